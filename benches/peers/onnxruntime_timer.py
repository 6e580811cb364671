#!/usr/bin/env python3
"""Times ONNX Runtime's WebGPU (or CPU) execution provider on the workloads of workloads.json.

compare.py sets it up and runs it:

    onnxruntime_timer.py [--ep webgpu|cpu] [--workloads FILE] [--only NAME ...] [--seconds S] > ort.jsonl

The inputs are graph initializers and graph optimization is off, so a timed run uploads nothing and folds nothing;
it holds one dispatch of the operator and the download of the output. On a machine without a GPU, point the Vulkan
loader at SwiftShader (VK_DRIVER_FILES and VK_ICD_FILENAMES = its vk_swiftshader_icd.json). A workload whose operator
or type has no WebGPU kernel there prints {"name": ..., "error": ...}.
One JSON object a line: name, peer, median_ms, min_ms, runs.
"""
import argparse, json, os, statistics, sys, time
import ml_dtypes, numpy as np, onnx, onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

here = os.path.dirname(os.path.abspath(__file__))


def data(rng, shape, dtype):
    if dtype in ("float32", "float64", "float16"):
        return rng.standard_normal(shape).astype(dtype)
    if dtype == "bfloat16":
        return rng.standard_normal(shape).astype(np.float32).astype(ml_dtypes.bfloat16)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)


def session(work, arrays, ep):
    inits = [numpy_helper.from_array(a, f"x{i}") for i, a in enumerate(arrays)]
    names = [f"x{i}" for i in range(len(arrays))]
    element = inits[0].data_type
    op = work["op"]
    if op == "ReduceMax":
        inits.append(helper.make_tensor("axes", TensorProto.INT64, [len(work["axes"])], work["axes"]))
        node = helper.make_node(op, [names[0], "axes"], ["y"], keepdims=0)
    elif op == "ArgMax":
        node = helper.make_node(op, names, ["y"], axis=work["axis"], keepdims=0)
        element = TensorProto.INT64
    elif op == "Hardmax":
        node = helper.make_node(op, names, ["y"], axis=work["axis"])
    else:
        node = helper.make_node(op, names, ["y"])
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", element, None)], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 8
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    if ep != "CPUExecutionProvider":
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return ort.InferenceSession(model.SerializeToString(), options, providers=[ep])


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--ep", choices=["webgpu", "cpu"], default="webgpu")
    args.add_argument("--workloads", default=os.path.join(here, "..", "workloads.json"))
    args.add_argument("--only", nargs="*")
    args.add_argument("--seconds", type=float, default=2.0, help="time to spend on one workload")
    args = args.parse_args()
    ort.set_default_logger_severity(4)
    ep = {"webgpu": "WebGpuExecutionProvider", "cpu": "CPUExecutionProvider"}[args.ep]
    rng = np.random.default_rng(1)
    for work in json.load(open(args.workloads)):
        if args.only and work["name"] not in args.only:
            continue
        row = {"name": work["name"], "peer": f"onnxruntime {ort.__version__} {args.ep}"}
        try:
            arrays = [np.asarray(data(rng, shape, work["dtype"])) for shape in work["shapes"]]
            run = session(work, arrays, ep)
            run.run(None, {})
            times, start = [], time.perf_counter()
            while len(times) < 5 or (time.perf_counter() - start < args.seconds and len(times) < 200):
                t = time.perf_counter()
                run.run(None, {})
                times.append((time.perf_counter() - t) * 1e3)
                if len(times) >= 3 and time.perf_counter() - start > 4 * args.seconds:
                    break
            row |= {"median_ms": statistics.median(times), "min_ms": min(times), "runs": len(times)}
        except Exception as error:  # the peer lacks this operator or type
            row["error"] = str(error).strip().splitlines()[-1][:160]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
