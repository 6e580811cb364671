#!/usr/bin/env python3
"""Times PyTorch on the workloads of workloads.json, on the GPU that it finds, or on the CPU.

    python3 benches/peers/torch_timer.py [--workloads FILE] [--only NAME ...] [--seconds S] [--rotate MIB] > torch.jsonl

The inputs are on the device before timing; a timed run is the operator, whose output stays there. Answers are checked once
against PyTorch's own on the CPU. --rotate takes inputs in turn, so that so many MiB lie between two uses of one: more than a
cache holds. A workload that PyTorch cannot run prints {"name": ..., "error": ...}.
One JSON object a line: name, peer, device, median_ms (record, submit and wait), gpu_median_ms (between two events of the
device's, where it has some), runs.
"""
import argparse, functools, json, os, statistics, sys, time
import torch

here = os.path.dirname(os.path.abspath(__file__))
MOST_COPIES = 64
WARMING = 0.05  # seconds that a GPU works before anything is timed: clocks rise when they are asked to


def device():
    for name in ("cuda", "xpu", "mps"):  # ROCm calls itself cuda
        backend = getattr(torch, name, None)
        if backend is not None and backend.is_available():
            return name
    return "cpu"


def data(shape, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    info = torch.iinfo(dtype)
    return torch.randint(info.min, info.max, shape, generator=generator, dtype=dtype)


def hardmax(x, axis):
    return torch.zeros_like(x).scatter_(axis, x.argmax(axis, keepdim=True), 1)


def operator(work):
    op, axis = work["op"], work.get("axis", -1)
    if op == "ReduceMax":
        return lambda inputs: torch.amax(inputs[0], dim=tuple(work["axes"]))
    if op == "ArgMax":
        return lambda inputs: torch.argmax(inputs[0], dim=axis)
    if op == "Hardmax":
        return lambda inputs: hardmax(inputs[0], axis)
    return lambda inputs: functools.reduce(torch.maximum, inputs)


def check(work, run, inputs, on_host):
    """Equal maxima may be at other places: what counts is what lies there."""
    own, expected = run(inputs).cpu(), run(on_host)
    if work["op"] in ("ArgMax", "Hardmax"):
        axis = work.get("axis", -1)
        own = own if work["op"] == "ArgMax" else own.argmax(axis)
        own = torch.take_along_dim(on_host[0], own.unsqueeze(axis), axis)
        expected = torch.amax(on_host[0], dim=axis, keepdim=True)
    if not torch.equal(own, expected):
        raise ValueError("wrong")


def synchronized(name):
    if name != "cpu":
        getattr(torch, name).synchronize()


def timed(name, run):
    """Seconds on the wall and on the device."""
    if name not in ("cuda", "xpu"):
        begin = time.perf_counter()
        run()
        synchronized(name)
        return time.perf_counter() - begin, None
    event = getattr(torch, name).Event
    first, last = event(enable_timing=True), event(enable_timing=True)
    begin = time.perf_counter()
    first.record()
    run()
    last.record()
    synchronized(name)
    return time.perf_counter() - begin, first.elapsed_time(last) / 1e3


def measure(work, name, seconds, rotated_bytes):
    dtype, run = getattr(torch, work["dtype"]), operator(work)
    on_host = [data(shape, dtype, n) for n, shape in enumerate(work["shapes"])]
    bytes = sum(x.numel() * x.element_size() for x in on_host)
    copies = [[x.to(name, copy=True) for x in on_host] for _ in range(min(MOST_COPIES, max(1, rotated_bytes // bytes)))]
    check(work, run, copies[0], on_host)
    for inputs in copies:
        run(inputs)
    synchronized(name)
    begin = time.perf_counter()
    while name != "cpu" and time.perf_counter() - begin < WARMING:
        timed(name, lambda: run(copies[0]))
    wall, on_device, begin = [], [], time.perf_counter()
    while len(wall) < 5 or (time.perf_counter() - begin < seconds and len(wall) < 500):
        inputs = copies[len(wall) % len(copies)]
        both = timed(name, lambda: run(inputs))
        wall.append(both[0])
        on_device.append(both[1])
    row = {"median_ms": statistics.median(wall) * 1e3, "runs": len(wall)}
    if on_device[0] is not None:
        row["gpu_median_ms"] = statistics.median(on_device) * 1e3
    return row


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--workloads", default=os.path.join(here, "..", "workloads.json"))
    args.add_argument("--only", nargs="*")
    args.add_argument("--seconds", type=float, default=1.0, help="time to spend on one workload")
    args.add_argument("--rotate", metavar="MIB", type=int, default=0)
    args = args.parse_args()
    name = device()
    for work in json.load(open(args.workloads, encoding="utf-8")):
        if args.only and work["name"] not in args.only:
            continue
        row = {"name": work["name"], "peer": f"torch {torch.__version__}", "device": name}
        try:
            row |= measure(work, name, args.seconds, args.rotate << 20)
        except Exception as error:  # a type, or more memory, than there is
            row["error"] = (str(error).strip().splitlines() or [repr(error)])[0][:160]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
