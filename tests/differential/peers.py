"""The peers: for ONNX's nodes ONNX Runtime's CPU provider and ONNX's reference evaluator, for OpenVINO's and oneDNN's
nodes these libraries themselves.

A peer answers in a process of its own, which is started anew where a case ends it.
"""

import functools
import multiprocessing
import os
import resource
import signal
import warnings

import ml_dtypes
import numpy as np

import law


class Refused(Exception):
    pass


class NotImplemented_(Exception):
    pass


def onnxruntime(node):
    import onnxruntime as ort
    from onnx import TensorProto

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    values = {}
    for name, array in node.inputs.items():
        if array.dtype == ml_dtypes.bfloat16:
            values[name] = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), TensorProto.BFLOAT16)
        else:
            values[name] = ort.OrtValue.ortvalue_from_numpy(array)
    try:
        session = ort.InferenceSession(node.model().SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run_with_ort_values(["y"], values)[0].numpy()
    except Exception as error:
        missing = "NOT_IMPLEMENTED" in str(error)
        raise (NotImplemented_ if missing else Refused)(str(error)) from None


def reference(node):
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import RuntimeImplementationError

    try:
        return np.asarray(ReferenceEvaluator(node.model()).run(None, node.inputs)[0])
    except (NotImplementedError, RuntimeImplementationError) as error:
        raise NotImplemented_(str(error)) from None
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from None


def openvino(node):
    """The constant that OpenVINO's own folding makes of the node. Its CPU plugin has other rules: it rounds integers
    and doubles through f32."""
    from openvino import Model, passes
    from openvino.utils.node_factory import NodeFactory

    inputs = [openvino_constant(array) for array in node.inputs.values()]
    attributes = {name: bool(value) for name, value in node.attributes.items()}
    try:
        model = Model([NodeFactory("opset1").create("ReduceMax", inputs, attributes)], [])
        manager = passes.Manager()
        manager.register_pass(passes.ConstantFolding())
        manager.run_passes(model)
    except Exception as error:
        raise Refused(str(error)) from None
    folded = model.get_results()[0].input_value(0).get_node()
    if folded.get_type_name() != "Constant":
        raise NotImplemented_("its own evaluation leaves the node as it is")
    data = folded.get_data().copy()  # what it gives lives no longer than the model
    return data.view(node.inputs["x"].dtype) if node.dtype == "bf16" else data


def openvino_constant(array):
    import openvino
    from openvino.op import Constant

    name = {"bool": "boolean"}.get(law.name_of(array), law.name_of(array))
    tensor = openvino.Tensor(getattr(openvino.Type, name), openvino.Shape(array.shape))  # in memory of its own
    law.bits(tensor.data)[...] = law.bits(array)
    return Constant(tensor)


@functools.cache
def onednn_library():
    """The library. Where an exception of its own ends the process, that leaves no words and no core file."""
    import onednn

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return onednn.Library()


def onednn(node):
    from onednn import Failed

    arrays = [np.ascontiguousarray(array).reshape(array.shape) for array in node.inputs.values()]
    try:
        return onednn_library().reduce_max(arrays, node.attributes.get("axes"), node.attributes.get("keep_dims"))
    except Failed as error:
        raise Refused(str(error)) from None


PEERS = {"ort": onnxruntime, "ref": reference, "openvino": openvino, "onednn": onednn}
DOMAINS = {"ort": "", "ref": "", "openvino": "openvino", "onednn": "onednn"}  # whose nodes each is asked


def why_absent(peer):
    """Why a peer cannot be asked on this machine: None if it can."""
    try:
        if peer == "openvino":
            import openvino as _
        elif peer == "onednn":
            from onednn import load
            load()
    except (ImportError, OSError) as error:
        return str(error)


def answer(peer, node):
    """("answer", array), ("refused", message) or ("missing", message)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return "answer", PEERS[peer](node)
        except Refused as error:
            return "refused", str(error)
        except NotImplemented_ as error:
            return "missing", str(error)


def work(peer, nodes, first, results):
    for n in range(first, len(nodes)):
        results.send((n, answer(peer, nodes[n])))
    results.close()


def answers(peer, nodes):
    """Every node's answer; ("aborted", …) where the peer ended its process, ("crashed", …) where that ended otherwise."""
    context, found = multiprocessing.get_context("fork"), []
    while len(found) < len(nodes):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(peer, nodes, len(found), sender))
        process.start()
        sender.close()
        try:
            while True:
                found.append(receiver.recv()[1])
        except EOFError:
            process.join()
        if len(found) < len(nodes):
            outcome = "aborted" if process.exitcode == -signal.SIGABRT else "crashed"
            found.append((outcome, f"exit code {process.exitcode}"))
    return found
