"""Runs the cases that every route takes through a host of capi/examples, and compares every bit.

    python tests/capi/cases.py HOST CASES WGMAX_LIBRARY     HOST is host.py, or host.c as a shared library
"""

import ctypes
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "capi/examples"))


class PythonHost:
    language = "Python"

    def __init__(self, library):
        import host
        import wgpu

        self.host = host.Host(host.Planner(library), wgpu.gpu.request_adapter_sync().request_device_sync())
        self.numpy, self.limits = host.np, self.host.limits

    def run(self, operation, limits, inputs, _count):
        arrays = [self.numpy.frombuffer(data, self.numpy.uint8) for data in inputs]
        return [output.tobytes() for output in self.host.run(operation, *arrays, limits=limits)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class CHost:
    language = "C"

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.host_open.restype = ctypes.c_void_p
        self.library.free.argtypes = [ctypes.c_void_p]
        self.host = ctypes.c_void_p(self.library.host_open())
        self.library.host_limits.restype = ctypes.c_void_p
        limits = self.library.host_limits(self.host)
        self.limits = json.loads(ctypes.string_at(limits))
        self.library.free(limits)

    def run(self, operation, limits, inputs, count):
        buffers = [ctypes.create_string_buffer(data, len(data)) for data in inputs]
        given = (Bytes * len(inputs))(*((ctypes.addressof(own), len(own)) for own in buffers))
        outputs = (Bytes * count)()
        texts = [json.dumps(own).encode() for own in (operation, limits)]
        self.library.host_run(self.host, *texts, given, ctypes.c_size_t(len(inputs)), outputs)
        answer = [ctypes.string_at(own.data, own.size) for own in outputs]
        for own in outputs:
            self.library.free(own.data)
        return answer


def read_cases(path):
    """Each case with its inputs and the outputs expected."""
    with open(path, "rb") as file:
        while line := file.readline():
            case = json.loads(line)
            for name in ("inputs", "expected"):
                case[name] = [file.read(size) for size in case[name]]
            yield case


def difference(case, outputs):
    """What differs first, if anything does. Behind the elements a word may be filled up with anything."""
    for n, (own, expected) in enumerate(zip(outputs, case["expected"], strict=True)):
        if not len(expected) <= len(own) < len(expected) + 4:
            return f"output {n} has {len(own)} bytes, {len(expected)} expected"
        if own[: len(expected)] != expected:
            at = next(at for at, pair in enumerate(zip(own, expected)) if pair[0] != pair[1])
            return f"output {n}, byte {at}: got {own[at]}, expected {expected[at]}"


def main():
    path, cases, library = sys.argv[1:]
    host = PythonHost(library) if path.endswith(".py") else CHost(path)
    begin, count, complaints = time.monotonic(), 0, []
    for case in read_cases(cases):
        limits = {"adapter": case["adapter"]}  # the others are WebGPU's defaults, as on every route
        outputs = host.run(case["operation"], limits, case["inputs"], len(case["expected"]))
        count += 1
        if found := difference(case, outputs):
            complaints.append(f"{case['name']}: {found}")
    for complaint in complaints[:10]:
        print(complaint, file=sys.stderr)
    verdict = "ok" if count and not complaints else "FAILED"
    equal, seconds = count - len(complaints), round(time.monotonic() - begin)
    name = f"{host.language} on wgpu-native on {host.limits['adapter']}"
    print(f"{name}: {equal} of {count} cases bit-equal, {seconds} s: {verdict}")
    sys.exit(verdict != "ok")


if __name__ == "__main__":
    main()
