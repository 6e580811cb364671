#!/usr/bin/env python3
"""Writes the report of benches/hardware.sh from what it has measured.

    python3 benches/peers/report.py FOLDER > report.md
"""
import json, math, os, statistics, sys


VARIANTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "variants.txt")


class Folder:
    def __init__(self, path):
        self.path = path

    def lines(self, name):
        """All rows; none where the step did not come so far. A step that was stopped may have left half of its last one."""
        lines = self.read(f"{name}.jsonl").splitlines()
        if lines and not is_whole(lines[-1]):
            lines.pop()
        return [json.loads(line) for line in lines if line]

    def rows(self, name):
        """Rows by the workload's name."""
        return {row["name"]: row for row in self.lines(name)}

    def text(self, name):
        return self.read(f"{name}.txt").rstrip()

    def read(self, name):
        """A file's text, the last character of which may be half there; none where there is no file."""
        try:
            return open(f"{self.path}/{name}", encoding="utf-8", errors="replace").read()
        except FileNotFoundError:
            return ""

    def steps(self, suffix):
        names = sorted(name for name in os.listdir(self.path) if name.endswith(suffix))
        return {name.removesuffix(suffix): open(f"{self.path}/{name}", encoding="utf-8").read().strip() for name in names}


def is_whole(line):
    try:
        json.loads(line)
        return True
    except ValueError:
        return False


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    folder = Folder(sys.argv[1])
    for part in (device, ceilings, table, families, calibration, variants, steps):
        if text := part(folder):
            print(text + "\n")


def device(folder):
    own = folder.rows("ceilings").get("adapter")
    if not own:
        return "# A device that was not measured"
    head = f"# {own['adapter']}\n\n{own['kind']}, {own['backend']}, {own['driver']}."
    return f"{head}\n\n```text\n{own['limits']}\nfeatures: {own['features']}\n```"


def ceilings(folder):
    rows = [row for name, row in folder.rows("ceilings").items() if name != "adapter"]
    lines = ["## Ceilings", "", *heading("", "ms, submitted and waited for", "ms on the device", "GB/s")]
    for row in rows:
        lines.append(line(row["name"], number(row["median_ms"]), number(row["gpu_median_ms"]), number(row["gb_per_s"], 1)))
    return "\n".join([*lines, "", "Dispatches that wait write what the next one reads."]) if rows else ""


def pace(folder):
    """The best pace of memory that was seen, in GB/s."""
    rows = folder.rows("ceilings").values()
    return max((row.get("gb_per_s") or 0 for row in rows), default=0)


def milliseconds(row):
    """On the device where it has a clock, else as long as the caller waits."""
    return None if row is None else row.get("gpu_median_ms") or row.get("median_ms")


def table(folder):
    warm, cold = folder.rows("warm"), folder.rows("cold")
    torch_warm, torch_cold = folder.rows("torch_warm"), folder.rows("torch_cold")
    if not warm and not cold:
        return ""
    model, modelled = folder.rows("model"), device_modelled(folder)
    head = ["workload", "MB", "dispatches", "warm ms", "cold ms", f"predicted, {modelled}", "cold GB/s", "of the ceiling"]
    lines = [*heading(*head, "torch warm", "torch cold")]
    for name in dict.fromkeys([*warm, *cold]):
        row = cold.get(name) or warm[name]
        found = row["bytes"] / milliseconds(row) / 1e6
        ratios = [ratio(peer.get(name), own.get(name)) for peer, own in ((torch_warm, warm), (torch_cold, cold))]
        cells = [f"`{name}`", f"{row['bytes'] / 1e6:.1f}", row["dispatches"], number(milliseconds(warm.get(name)))]
        predicted = {own["device"]: own["ms"] for own in model.get(name, {}).get("predicted", [])}
        cells += [number(milliseconds(cold.get(name))), number(predicted.get(modelled))]
        cells += [number(found, 1), number(found / pace(folder) if pace(folder) else None, 2)]
        lines.append(line(*cells, *ratios))
    means = [mean(peer, own) for peer, own in ((torch_warm, warm), (torch_cold, cold))]
    lines.append(line("geometric mean", *[""] * 7, *means))
    note = (
        "Times on the device's own clock where it has one. Cold: buffers in turn, 512 MiB between two uses of one. The ceiling is "
        f"the best pace of memory above, {pace(folder):.1f} GB/s. Predicted: cold ms on the device by `examples/gpu_model`. "
        "torch: how many times as long PyTorch takes."
    )
    return "\n".join(["## The table", "", *lines, "", note])


def device_modelled(folder):
    """The device of the model that is called like this one, or the first."""
    own = folder.rows("ceilings").get("adapter", {}).get("adapter", "")
    known = [own["device"] for own in next(iter(folder.rows("model").values()), {}).get("predicted", [])]
    return next((name for name in known if all(word in own for word in name.split())), (known or ["-"])[0])


def ratio(peer, own):
    if not peer or not own:
        return "-"
    if "error" in peer:
        return "wrong" if peer["error"] == "wrong" else "none"
    # Clocks of one kind only.
    if peer.get("gpu_median_ms") and own.get("gpu_median_ms"):
        return number(peer["gpu_median_ms"] / own["gpu_median_ms"], 2)
    return number(peer["median_ms"] / own["median_ms"], 2)


def mean(peers, own):
    """The geometric mean of how many times as long a peer takes."""
    cells = [ratio(peers.get(name), own.get(name)) for name in own]
    found = [float(cell) for cell in cells if cell[0].isdigit()]
    return number(math.exp(statistics.fmean(map(math.log, found))), 2) if found else "-"


def families(folder):
    warm, cold, torch = (folder.rows(name) for name in ("families_warm", "families_cold", "torch_families_cold"))
    ceiling = pace(folder)
    if not cold or not ceiling:
        return ""
    found = {name: row["bytes"] / milliseconds(row) / 1e6 / ceiling for name, row in cold.items()}
    ordered = sorted(found, key=found.get)
    at = lambda share: found[ordered[round((len(ordered) - 1) * share)]]
    head = f"{len(found)} random problems of contiguous tensors, cold: of the ceiling {at(0):.3f} at least, {at(0.05):.3f} at 5 %, "
    head += f"{at(0.5):.3f} in the median. PyTorch takes {mean(torch, cold)} times as long in the geometric mean. The worst:"
    lines = heading("problem", "operator", "MB", "warm ms", "cold ms", "of the ceiling", "torch")
    for name in ordered[:20]:
        row = cold[name]
        operator = " ".join([row["op"], row["dtype"], *("×".join(map(str, shape)) or "scalar" for shape in row["shapes"])])
        times = [number(milliseconds(own.get(name))) for own in (warm, cold)]
        cells = [f"`{name}`", operator, f"{row['bytes'] / 1e6:.1f}", *times, number(found[name], 3)]
        lines.append(line(*cells, ratio(torch.get(name), row)))
    return "\n".join(["## Families", "", head, "", *lines])


def calibration(folder):
    text = folder.text("calibrate")
    return f"## Calibration\n\n```text\n{text}\n```" if text else ""


def variants(folder):
    """Each workload with each of the variants, in turns; the first one is the tuning as it is."""
    rows = folder.lines("variants")
    if not rows:
        return ""
    listed = [line.rstrip().partition(" ")[::2] for line in open(VARIANTS, encoding="utf-8")]
    names = {json.dumps({"tuning": json.loads(f"{{{tuning}}}")}): name for name, tuning in listed}
    found = {}
    for row in rows:
        name = names[json.dumps(json.loads(row["limits"]))]
        found.setdefault(row["name"], {})[name] = row
    shown = [name for name, _ in listed[1:]]
    lines = heading("workload", "ms as it is", *(name.replace("_", " ") for name in shown))
    for workload, own in found.items():
        base = own[listed[0][0]]
        lines.append(line(f"`{workload}`", number(milliseconds(base)), *(ratio(own.get(name), base) for name in shown)))
    of = lambda name: {workload: own.get(name) for workload, own in found.items()}
    lines.append(line("geometric mean", "", *(mean(of(name), of(listed[0][0])) for name in shown)))
    text = "The tuning changed (`benches/variants.txt`), cold, in turns: how many times as long as it takes as it is."
    return "\n".join(["## Variants", "", text, "", *lines])


def steps(folder):
    done, failed = folder.steps(".done"), folder.steps(".failed")
    said = ", ".join(f"{name} {seconds} s" for name, seconds in done.items()) or "None came to its end"
    lines = ["## Steps", "", said + "."]
    for name, code in failed.items():
        why = "ran out of its time" if code in ("124", "137") else f"failed with {code}"
        lines += ["", f"{name} {why}:", "", "```text", "\n".join(folder.text(name).splitlines()[-5:]), "```"]
    if not any(name.startswith("torch") for name in [*done, *failed]):
        lines += ["", "PyTorch is not here."]
    return "\n".join(lines)


def heading(*cells):
    return [line(*cells), "|" + "---|" * len(cells)]


def line(*cells):
    return f"| {' | '.join(map(str, cells))} |"


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    main()
