"""The peers: ONNX Runtime's CPU provider and ONNX's reference evaluator.

A peer answers in a process of its own, which is started anew where a case ends it.
"""

import multiprocessing
import warnings

import ml_dtypes
import numpy as np


class Refused(Exception):
    pass


class NotImplemented_(Exception):
    pass


def onnxruntime(model, inputs):
    import onnxruntime as ort
    from onnx import TensorProto

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    values = {}
    for name, array in inputs.items():
        if array.dtype == ml_dtypes.bfloat16:
            values[name] = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), TensorProto.BFLOAT16)
        else:
            values[name] = ort.OrtValue.ortvalue_from_numpy(array)
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run_with_ort_values(["y"], values)[0].numpy()
    except Exception as error:
        missing = "NOT_IMPLEMENTED" in str(error)
        raise (NotImplemented_ if missing else Refused)(str(error)) from None


def reference(model, inputs):
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import RuntimeImplementationError

    try:
        return np.asarray(ReferenceEvaluator(model).run(None, inputs)[0])
    except (NotImplementedError, RuntimeImplementationError) as error:
        raise NotImplemented_(str(error)) from None
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from None


PEERS = {"ort": onnxruntime, "ref": reference}


def answer(peer, node):
    """("answer", array), ("refused", message) or ("missing", message)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return "answer", PEERS[peer](node.model(), node.inputs)
        except Refused as error:
            return "refused", str(error)
        except NotImplemented_ as error:
            return "missing", str(error)


def work(peer, nodes, first, results):
    for n in range(first, len(nodes)):
        results.send((n, answer(peer, nodes[n])))
    results.close()


def answers(peer, nodes):
    """Every node's answer; ("crashed", …) where the peer's process ended."""
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
            found.append(("crashed", f"exit code {process.exitcode}"))
    return found
