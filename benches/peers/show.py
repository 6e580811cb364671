#!/usr/bin/env python3
"""Shows rows that compare.py or `cargo bench --bench workloads -- --json FILE` measured: as Markdown tables on standard
output, and as a chart.

    python3 benches/peers/show.py FILE ... [--only NAME ...] [--svg FILE]

A row is a JSON object on a line of its own. Rows of one workload on several adapters become one line of the table and
of the chart. The chart draws time as a multiple of wgmax's: what stands right of 1 takes longer. --svg writes it.
"""
import argparse, json, math
from xml.sax.saxutils import escape

ADAPTERS = {"llvmpipe": "lavapipe"}  # parts of wgpu's names that are called otherwise here
PEERS = {
    "burn": "burn",
    "onnxruntime-cpu": "ORT CPU",
    "onnxruntime-webgpu": "ORT WebGPU",
}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("files", nargs="+", metavar="FILE")
    args.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these workloads, in this order")
    args.add_argument("--svg", metavar="FILE", help="where to write the chart")
    args = args.parse_args()
    rows = [json.loads(line) for path in args.files for line in open(path, encoding="utf-8") if line.strip()]
    if args.only:
        rows = [row for name in args.only for row in rows if row["name"] == name]
    if not rows:
        raise SystemExit("there are no such rows")
    print(markdown(rows))
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(svg(rows))


class Table:
    """Rows by adapter and workload, in the order in which they come."""

    def __init__(self, rows):
        self.names = list(dict.fromkeys(row["name"] for row in rows))
        self.adapters = list(dict.fromkeys(adapter(row) for row in rows))
        self.rows = {(adapter(row), row["name"]): row for row in rows}

    def of(self, adapter):
        return [self.rows[adapter, name] for name in self.names if (adapter, name) in self.rows]

    def any(self, name):
        return next(self.rows[adapter, name] for adapter in self.adapters if (adapter, name) in self.rows)

    def peers(self, adapter):
        return list(dict.fromkeys(peer for row in self.of(adapter) for peer in row.get("peers", {})))


def adapter(row):
    return next((own for part, own in ADAPTERS.items() if part in row["adapter"]), row["adapter"])


def operation(row):
    shapes = ["×".join(map(str, shape)) or "scalar" for shape in row["shapes"]]
    return " ".join([row["op"], row["dtype"], *shapes[:2], *["…"][: len(shapes) > 2]])


def times(row, peer):
    """How many times as long the peer takes as wgmax, if it answers."""
    return row.get("peers", {}).get(peer, {}).get("times_as_long")


def verdict(row, peer):
    """The same as text."""
    if (found := times(row, peer)) is not None:
        return f"{found:.2f}"
    return "wrong" if "wrong" in row.get("peers", {}).get(peer, {}).get("error", "") else "-"


def markdown(rows):
    table = Table(rows)
    head, columns = ["workload", "operator", "MB"], []
    for adapter in table.adapters:
        own = table.of(adapter)
        head.append(f"{adapter} ms")
        columns.append((adapter, lambda row: f"{row['median_ms']:.2f}"))
        if any("ratio" in row for row in own):
            head.append("of the limit")
            columns.append((adapter, lambda row: f"{row['ratio']:.2f}" if "ratio" in row else ""))
        for peer in table.peers(adapter):
            head.append(PEERS.get(peer, peer))
            columns.append((adapter, lambda row, peer=peer: verdict(row, peer)))
    lines = [line(head), "|" + "---|" * len(head)]
    for name in table.names:
        row = table.any(name)
        cells = [f"`{name}`", operation(row), f"{row['bytes'] / 1e6:.1f}"]
        for adapter, cell in columns:
            own = table.rows.get((adapter, name))
            cells.append(cell(own) if own else "")
        lines.append(line(cells))
    if any(table.peers(adapter) for adapter in table.adapters):
        lines += ["", *summary(table)]
    return "\n".join([*lines, "", *limits(table)])


def summary(table):
    """Each peer's geometric mean, and its worst workload."""
    lines = [line(["beside", "answers", "times as fast", "at least"]), "|---|---|---|---|"]
    for adapter in table.adapters:
        rows = table.of(adapter)
        for peer in table.peers(adapter):
            found = {row["name"]: times(row, peer) for row in rows if times(row, peer) is not None}
            cells = [f"{PEERS.get(peer, peer)} on {adapter}", f"{len(found)} of {len(rows)}"]
            lines.append(line([*cells, *(mean_and_least(found) if found else ["-", "-"])]))
    return lines


def limits(table):
    """How near the large workloads come to memory's pace."""
    lines = []
    for adapter in table.adapters:
        large = [row for row in table.of(adapter) if row["op"] != "Hardmax" and row["bytes"] >= 32 << 20]
        if ratios := {row["name"]: row["ratio"] for row in large if "ratio" in row}:
            mean, least = mean_and_least(ratios)
            what = "ReduceMax, ArgMax and Max of 32 MiB and more"
            lines.append(f"{what} on {adapter}: {mean} of the limit, {least} at least.")
    return lines


def mean_and_least(values):
    """The geometric mean, and the least with its name, as text."""
    mean = math.exp(sum(map(math.log, values.values())) / len(values))
    least = min(values, key=values.get)
    return [f"{mean:.2g}", f"{values[least]:.2f} (`{least}`)"]


def line(cells):
    return f"| {' | '.join(cells)} |"


# The chart: a line for each workload, a panel for each adapter.

LABELS = 216  # the width of the workloads' names
PLOT = 190  # of what is drawn
TEXT = 122  # of what stands beside it
TOP, ROW, BOTTOM = 74, 40, 34
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #57606a; }
.name, .ms { fill: #24292f; }
.small { font-size: 10.5px; }
.grid { stroke: #8c959f; stroke-opacity: .35; }
.own { stroke: #57606a; stroke-width: 1.5; }
.limit { stroke: #6e7781; stroke-width: 2.5; }
.peer0 { fill: #2f6fb5; }
.peer1 { fill: #b5651d; }
.peer2 { fill: #5b7f3a; }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1; }
  .name, .ms { fill: #d1d7e0; }
  .own { stroke: #9198a1; }
  .limit { stroke: #9198a1; }
  .peer0 { fill: #6aa5e8; }
  .peer1 { fill: #e0954f; }
  .peer2 { fill: #8fbf63; }
}
""".strip()


def svg(rows):
    table = Table(rows)
    peers = list(dict.fromkeys(peer for adapter in table.adapters for peer in table.peers(adapter)))
    low, high = domain(rows)
    panel = PLOT + TEXT
    width, bottom = LABELS + panel * len(table.adapters), TOP + ROW * len(table.names)
    ticks = [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    place = lambda value: PLOT * math.log(value / low) / math.log(high / low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + BOTTOM}" '
        f'viewBox="0 0 {width} {bottom + BOTTOM}" role="img">',
        "<title>Times beside wgmax's</title>",
        f"<desc>{escape(described(table))}</desc>",
        f"<style>{STYLE}</style>",
        text(0, 16, "time, as a multiple of wgmax's (logarithmic)", "name"),
        *legend(peers, any("ratio" in row for row in rows)),
    ]
    for n, name in enumerate(table.names):
        y = TOP + ROW * n + ROW // 2
        parts += [text(0, y - 3, name, "name"), text(0, y + 11, operation(table.any(name)), "small")]
    for at, adapter in enumerate(table.adapters):
        left = LABELS + panel * at
        parts += [text(left, TOP - 14, adapter, "name"), text(left + PLOT + 8, TOP - 14, "wgmax takes", "small")]
        for tick in ticks:
            x = left + place(tick)
            parts.append(stroke("own" if tick == 1 else "grid", x, TOP - 6, x, bottom))
            parts.append(text(x, bottom + 16, f"{tick:g}", "small", "middle"))
        for n, name in enumerate(table.names):
            if row := table.rows.get((adapter, name)):
                parts += drawn(row, peers, left, TOP + ROW * n + ROW // 2, place)
    return "\n".join([*parts, "</svg>", ""])


def drawn(row, peers, left, y, place):
    """One workload on one adapter."""
    parts = [stroke("grid", left, y, left + PLOT, y)]
    if "ratio" in row:
        x = left + place(row["ratio"])
        parts.append(stroke("limit", x, y - 8, x, y + 8))
    notes = [text(left + PLOT + 8, y - 3, f"{row['median_ms']:.2f} ms", "ms")]
    own = list(row.get("peers", {}))
    for n, peer in enumerate(own):
        if (found := times(row, peer)) is not None:
            # One below the other, so that none hides the other.
            parts.append(mark(peers.index(peer), left + place(found), y + 6 * n - 3 * (len(own) - 1)))
        else:
            note = f"{PEERS.get(peer, peer)}: {verdict(row, peer).replace('-', 'none')}"
            notes.append(text(left + PLOT + 8, y - 3 + 12 * len(notes), note, "small"))
    return parts + notes


def legend(peers, limit):
    parts, x = [], 4
    entries = [(lambda x: stroke("own", x, 28, x, 42), "wgmax")]
    if limit:
        entries.append((lambda x: stroke("limit", x, 28, x, 42), "the limit: as many bytes at memory's pace"))
    for n, peer in enumerate(peers):
        entries.append((lambda x, n=n: mark(n, x, 35), PEERS.get(peer, peer)))
    for drawing, label in entries:
        parts += [drawing(x), text(x + 10, 39, label, "small")]
        x += 34 + 6 * len(label)
    return parts


def domain(rows):
    """Whole powers of ten around all that is drawn."""
    values = [1.0, *(row["ratio"] for row in rows if "ratio" in row)]
    values += [found for row in rows for peer in row.get("peers", {}) if (found := times(row, peer)) is not None]
    return 10.0 ** math.floor(math.log10(min(values) / 1.01)), 10.0 ** math.ceil(math.log10(max(values) * 1.01))


def described(table):
    """All numbers of the chart, for those who do not see it."""
    lines = []
    for adapter in table.adapters:
        for row in table.of(adapter):
            own = f"{row['name']} on {adapter}: wgmax {row['median_ms']:.2f} ms"
            others = [f"{PEERS.get(peer, peer)} {verdict(row, peer)}" for peer in row.get("peers", {})]
            lines.append(", ".join([own, *others]))
    return "; ".join(lines)


def mark(n, x, y):
    """A peer's mark: its own form besides its own colour."""
    if n == 0:
        return f'<circle class="peer0" cx="{x:.1f}" cy="{y}" r="5"/>'
    if n == 1:
        return f'<rect class="peer1" x="{x - 4.5:.1f}" y="{y - 4.5}" width="9" height="9"/>'
    return f'<path class="peer{n}" d="M{x:.1f} {y - 6}l6 11h-12z"/>'


def stroke(kind, x1, y1, x2, y2):
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}"/>'


def text(x, y, words, kind, anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


if __name__ == "__main__":
    main()
