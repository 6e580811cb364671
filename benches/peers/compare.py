#!/usr/bin/env python3
"""Times the workload table beside its peers on one adapter, taking turns, and prints Markdown tables.

    python3 benches/peers/compare.py lavapipe|swiftshader|default [--only NAME ...] [--seconds S] [--json FILE]
                                     [--without burn|onnxruntime-webgpu|onnxruntime-cpu ...]
                                     [--sweep SEED [--count N]]

For each workload: wgmax, a peer, wgmax, the next peer, wgmax. What is shown is the median of wgmax's medians and each
peer's median, so that a machine that slows down slows all of them. The peers are set up under target/peers the first
time: two Python environments, and burn, which compiles for about half an hour on two cores.

--sweep takes random problems instead: those of `cargo bench --bench sweep -- --seed SEED --count N` that the peers can express.

--json adds each row to a file, as one line; show.py makes one table, and a chart, of such files.

- burn 0.22 (wgpu, autotune and fusion on); "wrong" where its answer is.
- ONNX Runtime 1.27: its WebGPU provider where it takes the adapter (it refuses lavapipe), and its native CPU kernels.

"default" is whatever adapter wgpu picks when it may see all; the others are found where Debian installs them.
"""
import argparse, datetime, glob, json, os, platform, statistics, subprocess, sys, tempfile

sys.dont_write_bytecode = True
import show

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "benches", "peers")
TARGET = os.path.join(ROOT, "target", "peers")
WORKLOADS = os.path.join(ROOT, "benches", "workloads.json")
DRIVERS = {
    "lavapipe": ["/usr/share/vulkan/icd.d/lvp_icd*.json", "/usr/local/share/vulkan/icd.d/lvp_icd*.json"],
    "swiftshader": ["/usr/lib/chromium/vk_swiftshader_icd.json"],
    "default": [],
}
PEERS = {
    "lavapipe": ["burn", "onnxruntime-cpu"],
    "swiftshader": ["onnxruntime-webgpu", "burn"],
    "default": ["onnxruntime-webgpu", "burn"],
}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("adapter", choices=DRIVERS)
    args.add_argument("--only", nargs="*", default=[])
    args.add_argument("--seconds", type=float, default=0.5, help="time to spend on one workload, each turn")
    args.add_argument("--json", metavar="FILE", help="where to add the rows, one a line")
    args.add_argument("--without", nargs="*", default=[], choices=sorted({p for own in PEERS.values() for p in own}))
    args.add_argument("--sweep", metavar="SEED", type=int, help="random problems instead of the table")
    args.add_argument("--count", type=int, default=100, help="how many of them are drawn")
    args = args.parse_args()
    environment = adapter_environment(args.adapter)
    ours = built("workloads")
    workloads = WORKLOADS if args.sweep is None else drawn(args.sweep, args.count)
    peers = {name: set_up(name) for name in PEERS[args.adapter] if name not in args.without}
    rows = []
    for work in json.load(open(workloads)):
        if not args.only or work["name"] in args.only:
            say(work["name"])
            rows.append(measure(work["name"], workloads, ours, peers, args.seconds, environment))
            if args.json:
                with open(args.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    if not rows:
        sys.exit("there are no such workloads")
    versions = sorted({answer["peer"] for row in rows for answer in row["peers"].values() if "peer" in answer})
    print(f"{rows[0]['adapter']}, {rows[0]['machine']}, {rows[0]['date']}; {', '.join(versions) or 'no peers'}:\n")
    print(show.markdown(rows))


def say(text):
    print(text, file=sys.stderr, flush=True)


def adapter_environment(adapter):
    environment = dict(os.environ)
    if adapter == "default":
        return environment
    found = [path for pattern in DRIVERS[adapter] for path in sorted(glob.glob(pattern))]
    if not found:
        sys.exit(f"no driver for {adapter}: none of {DRIVERS[adapter]} is there; tests/run.sh installs it on Debian")
    # Old loaders know the second name.
    return environment | {"VK_DRIVER_FILES": found[0], "VK_ICD_FILENAMES": found[0]}


def drawn(seed, count):
    """A file of random workloads."""
    path = f"{TARGET}/sweep-{seed}.json"
    os.makedirs(TARGET, exist_ok=True)
    subprocess.run([built("sweep"), "--seed", str(seed), "--count", str(count), "--workloads", path], check=True)
    return path


def built(bench):
    """The path of a bench of ours."""
    command = ["cargo", "bench", "--bench", bench, "--no-run", "--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == bench and message.get("executable"):
            return message["executable"]
    sys.exit(f"cargo built no bench called {bench}")


def set_up(peer):
    """The command of a peer's timer."""
    if peer == "burn":
        if subprocess.run(["cargo", "build", "--release", "--target-dir", f"{TARGET}/burn"], cwd=f"{HERE}/burn").returncode:
            sys.exit("burn does not build here; --without burn leaves it out")
        return [f"{TARGET}/burn/release/burn_timer"]
    provider = peer.removeprefix("onnxruntime-")
    venv, requirements = f"{TARGET}/{provider}", f"{HERE}/requirements-{provider}.txt"
    stamp = f"{venv}/requirements.txt"
    if not os.path.exists(stamp) or open(stamp).read() != open(requirements).read():
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([f"{venv}/bin/pip", "install", "--quiet", "-r", requirements], check=True)
        with open(stamp, "w") as file:  # only once all is there
            file.write(open(requirements).read())
    return [f"{venv}/bin/python", f"{HERE}/onnxruntime_timer.py", "--ep", provider]


def measure(name, workloads, ours, peers, seconds, environment):
    turns = [time_ours(name, workloads, ours, seconds, environment)]
    answers = {}
    for peer, command in peers.items():
        command = command + ["--workloads", workloads, "--only", name, "--seconds", str(seconds)]
        ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
        lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
        answers[peer] = json.loads(lines[-1]) if lines else {"error": ran.stderr.strip()[-160:] or "no answer"}
        turns.append(time_ours(name, workloads, ours, seconds, environment))
    row = dict(turns[0])
    row |= {"machine": machine(), "date": str(datetime.date.today())}
    row["median_ms"] = statistics.median(turn["median_ms"] for turn in turns)
    row["limit_gb_per_s"] = statistics.median(turn["limit_gb_per_s"] for turn in turns)
    row["gb_per_s"] = row["bytes"] / row["median_ms"] / 1e6
    row["ratio"] = statistics.median(turn["ratio"] for turn in turns)
    for answer in answers.values():
        if "median_ms" in answer:
            answer["times_as_long"] = answer["median_ms"] / row["median_ms"]
    row["peers"] = answers
    return row


def time_ours(name, workloads, ours, seconds, environment):
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        command = [ours, "--workloads", workloads, "--only", name, "--seconds", str(seconds), "--json", file.name]
        ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"{name}: {ran.stderr}")
        return json.loads(file.read())


def machine():
    try:
        models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    except OSError:
        models = []
    return f"{os.cpu_count()} cores of {models[0] if models else platform.processor() or platform.machine()}"


if __name__ == "__main__":
    main()
