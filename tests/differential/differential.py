"""Random nodes through onnx_run, held against the law and against peers.

    differential.py ONNX_RUN COUNT [ONNX_RUN_OPTION...]

COUNT nodes of ONNX's, and a fifth as many each of OpenVINO's and of oneDNN's ReduceMax. On every valid node this crate
must give the law's answer, bit for bit, on the GPU and on the CPU; on every wrong one an error. Where a peer differs,
the kind of difference must stand in docs/divergences.md, and is counted there. Anything else fails.
"""

import collections
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx

import law
import peers
from cases import OnnxNode
from dialects import OneDnn, OpenVino
from node import NUMBERS, tensor

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = pathlib.Path("target/differential/cases")
SEED = os.environ.get("SEED", "20260801")


def write(nodes):
    """The nodes in ONNX's node-test layout."""
    shutil.rmtree(ROOT / FOLDERS, ignore_errors=True)
    for n, node in enumerate(nodes):
        data_set = ROOT / FOLDERS / str(n) / "test_data_set_0"
        data_set.mkdir(parents=True)
        (data_set.parent / "model.onnx").write_bytes(node.model().SerializeToString())
        for i, array in enumerate(node.inputs.values()):
            (data_set / f"input_{i}.pb").write_bytes(tensor(array, node.rng).SerializeToString())


def choose(count):
    """The nodes: COUNT of ONNX's, a fifth as many of each other dialect's."""
    kinds = [(OnnxNode, "", count), (OpenVino, "openvino/", count // 5), (OneDnn, "onednn/", count // 5)]
    return [kind(random.Random(f"{SEED}/{name}{n}")) for kind, name, count in kinds for n in range(count)]


def run_ours(onnx_run, options, count):
    """Each node's (verdict, message), from one run over all folders."""
    for old in (ROOT / FOLDERS).glob("*/*/output_0.pb"):
        old.unlink()
    folders = [str(FOLDERS / str(n)) for n in range(count)]
    run = subprocess.run([onnx_run, *folders, "--write", *options], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    lines = re.findall(r"^(pass|FAIL|error) (\d+)/test_data_set_0:? ?(.*)$", run.stdout, re.M)
    assert [int(n) for _, n, _ in lines] == list(range(count)), f"onnx_run ended with {run.returncode}"
    return [(verdict, message) for verdict, _, message in lines]


def our_answer(n):
    """The tensor that onnx_run wrote. Its raw bytes are taken as they are: no library touches a NaN."""
    proto = onnx.TensorProto()
    proto.ParseFromString((ROOT / FOLDERS / str(n) / "test_data_set_0" / "output_0.pb").read_bytes())
    dtype = next(name for name, number in NUMBERS.items() if number == proto.data_type)
    return np.frombuffer(proto.raw_data, law.TYPES[dtype]).reshape(list(proto.dims))


def wrong_of_ours(node, n, verdict, message):
    """What is wrong with our own outcome, if anything."""
    if node.wrong:
        return None if verdict == "error" else f"no error for a wrong node ({node.wrong})"
    if verdict != "pass":
        return f"{verdict} {message}"
    got, expected = our_answer(n), node.case.answer
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{got.dtype} {got.shape}, the law says {expected.dtype} {expected.shape}"
    differ = np.flatnonzero(law.bits(got).ravel() != law.bits(expected).ravel())
    return f"index {differ[0]}: {got.ravel()[differ[0]]}, the law says {expected.ravel()[differ[0]]}" if differ.size else None


def kind_of_element(peer, node, index):
    """Why two answers may differ at one element."""
    if peer == "ref" and node.op == "Hardmax" and node.version < 13 and node.differs_from_hardmax_13():
        return "as if it were version 13"
    values = [value for _, value in node.case.operands[index]]
    if any(law.is_nan(value) for value in values):
        return "nan"
    if not values:
        return f"empty {node.dtype}"
    if all(value == -math.inf for value in values):
        return "nothing but -inf"
    if {bits for bits, value in node.case.operands[index] if value == 0} == {0, law.top(node.dtype)}:
        return "zeros"
    return "subnormals" if law.is_subnormal(max(values), node.dtype) else "other"


def divergences(peer, node, outcome, answer):
    """The kinds of difference of a peer's outcome from ours, none if they agree."""
    if outcome == "crashed":
        return {outcome}
    if outcome == "aborted":
        return {f"aborts for {why(peer, node, answer)}"}
    if outcome == "missing":
        return {f"missing {node.dtype}" + (" before version 8" if node.op == "Max" and node.version < 8 else "")}
    if node.wrong:
        return {f"accepts {node.wrong}"} if outcome == "answer" else set()
    if outcome == "refused":
        return {f"refuses {why(peer, node, answer)}"}
    expected = node.case.answer
    if answer.dtype == np.uint16 and node.dtype == "bf16" and expected.dtype != np.int64:
        answer = answer.view(expected.dtype)
    kinds = set()
    if peer == "onednn" and expected.ndim == 0 and answer.shape == (1,):
        kinds, answer = {"one dimension for a scalar"}, answer.reshape(())
    if (answer.dtype, answer.shape) != (expected.dtype, expected.shape):
        if node.has_empty_data() and any(axis < 0 for axis in node.axes_given()):
            return {"negative axes of an empty tensor"}
        return {f"type {answer.dtype}" if answer.dtype != expected.dtype else "shape"}
    same = law.bits(answer).ravel() == law.bits(expected).ravel()
    if law.name_of(expected) in law.FLOATS:
        same |= np.isnan(answer.astype(np.float64)).ravel() & np.isnan(expected.astype(np.float64)).ravel()
    return kinds | {kind_of_element(peer, node, index) for index in np.flatnonzero(~same)}


def why(peer, node, message):
    """What is unusual about a node that a peer refuses, or at which it ends the process."""
    if "InsertedPrecisionFreeCast" in message and node.opset < 6 and node.dtype == "f16":
        return "f16 before opset 6"
    if peer == "onednn" and "axes" in node.inputs:
        return "axes as an input"
    if peer == "onednn" and node.attributes.get("axes") == []:
        return "an empty list of axes"
    if node.has_empty_data():
        return "an empty tensor"
    if node.op == "Hardmax" and node.version == 1 and node.attributes.get("axis", 1) == node.inputs["x"].ndim:
        return "axis equal to the rank"
    if peer == "onednn" and all(node.inputs["x"].shape[d] == 1 for d in node.reduced):
        return "dimensions of size 1"
    return node.dtype if peer == "onednn" and node.dtype in ("f16", "bf16") else "other"


def allowed():
    """The rows of the table, each a peer, an operator and a kind, in code quotes."""
    return re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs/divergences.md").read_text(), re.M)


def judge_ours(onnx_run, options, nodes):
    """What is wrong with our own outcomes on one back end."""
    outcomes = run_ours(os.path.abspath(onnx_run), options, len(nodes))
    for n, (node, (verdict, message)) in enumerate(zip(nodes, outcomes)):
        if wrong := wrong_of_ours(node, n, verdict, message):
            yield f"wgmax {' '.join(options)}, case {n}: {wrong}; {node.describe()}"


def main(onnx_run, count, *options):
    nodes = choose(int(count))
    write(nodes)
    backends = [list(options), ["--backend", "cpu"]]
    backends = backends[backends[0] == backends[1]:]  # once is enough
    unexplained = [wrong for backend in backends for wrong in judge_ours(onnx_run, backend, nodes)]
    rows, counts, agreed, absent = allowed(), collections.Counter(), collections.Counter(), {}
    for peer, domain in peers.DOMAINS.items():
        if reason := peers.why_absent(peer):
            absent[peer] = reason
            continue
        asked = [(n, node) for n, node in enumerate(nodes) if node.domain == domain]
        answers = peers.answers(peer, [node for _, node in asked])
        for (n, node), (outcome, answer) in zip(asked, answers):
            kinds = divergences(peer, node, outcome, answer)
            agreed[peer] += not kinds
            for kind in kinds:
                row = f"{peer} {node.op}: {kind}"
                counts[row] += 1
                if row not in rows:
                    detail = answer if isinstance(answer, str) else np.array2string(answer.ravel(), threshold=8)
                    unexplained.append(f"{row}, case {n}: {detail}; {node.describe()}")
    report(nodes, counts, agreed, rows, unexplained)
    for peer, reason in absent.items():
        print(f"LEFT OUT: {peer}, {reason}")
    required = os.environ.get("WGMAX_REQUIRE_ADAPTERS") == "1"
    return 1 if unexplained or absent and required else 0


def report(nodes, counts, agreed, rows, unexplained):
    wrong = sum(node.wrong is not None for node in nodes)
    by_version = collections.Counter((f"{node.domain} {node.op}".strip(), node.version) for node in nodes)
    print(f"{len(nodes)} nodes, {wrong} of them wrong on purpose")
    print("  " + ", ".join(f"{op}-{version} {n}" for (op, version), n in sorted(by_version.items())))
    for peer, n in agreed.items():
        print(f"{peer}: {n} agree")
    for row in sorted(set(rows) | set(counts)):
        print(f"  {counts[row]:5} {row}")
    shown = collections.Counter()
    for line in unexplained:
        kind = line.split(", case")[0]
        shown[kind] += 1
        if shown[kind] <= 5:
            print("UNEXPLAINED", line[:600])
    print(f"{len(unexplained)} unexplained")
    print(f"test result: {max(len(nodes) - len(unexplained), 0)} passed; {len(unexplained)} failed")


if __name__ == "__main__":
    np.seterr(all="ignore")  # NaNs are what this is about
    sys.exit(main(*sys.argv[1:]))
