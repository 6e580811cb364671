import { argMax, hardmax, max, reduceMax, type DType, type Kernels, type Operation } from "wgmax";
import { reference } from "wgmax/reference";
import { element, made, say } from "../../pages/src/dom.js";
import { Resident, bitEqual, leastBytes } from "./resident.js";

/** A row of workloads.json, which the benches have too. */
interface Workload {
  name: string;
  why: string;
  op: "ReduceMax" | "ArgMax" | "Hardmax" | "Max";
  dtype: string;
  shapes: number[][];
  axes?: number[];
  axis?: number;
}

const DTYPES: Record<string, DType> = {
  float32: "f32", float16: "f16", bfloat16: "bf16", float64: "f64", int64: "i64", uint8: "u8",
};

/** The panel that times every workload. */
export class Workloads {
  #stopped = false;

  constructor(private readonly kernels: Kernels, private readonly list: Workload[]) {
    element("run").addEventListener("click", () => this.run());
    element("stop").addEventListener("click", () => (this.#stopped = true));
  }

  async run(): Promise<void> {
    const scale = Number(element<HTMLSelectElement>("scale").value);
    const verify = element<HTMLInputElement>("verify").checked;
    const progress = element<HTMLProgressElement>("progress");
    const chart = new Chart();
    this.#running(true);
    const seen: Outcome = { count: this.list.length, done: 0, refused: 0, checked: 0, wrong: 0 };
    for (const work of this.list.map((own) => scaled(own, scale))) {
      if (this.#stopped) break;
      say("workload-state", `${seen.done + 1} of ${seen.count}: ${work.name}, ${work.why} …`);
      progress.value = seen.done / seen.count;
      try {
        const { bytes, milliseconds, equal } = await this.#time(work, verify);
        if (equal !== undefined) seen.checked++;
        if (equal === false) seen.wrong++;
        chart.add(work, bytes, milliseconds, equal);
      } catch (error) {
        seen.refused++;
        chart.refuse(work, (error as Error).message);
      }
      seen.done++;
    }
    this.#running(false);
    say("workload-state", [ended(seen), ...(verify ? [verdict(seen)] : [])].join(" "), mood(seen));
  }

  #running(running: boolean): void {
    this.#stopped &&= !running;
    element("run").hidden = running;
    element("stop").hidden = !running;
    element("progress").hidden = !running;
  }

  async #time(work: Workload, verify: boolean) {
    const dtype = DTYPES[work.dtype]!;
    const operation = operationOf(work, dtype);
    const inputs = work.shapes.map((shape) => randomBytes(dtype, shape));
    const resident = await Resident.create(this.kernels, operation, inputs);
    try {
      const milliseconds = await resident.median(5, 300);
      const equal = verify ? bitEqual(await resident.read(), reference(operation, inputs)) : undefined;
      return { bytes: leastBytes(operation), milliseconds, equal };
    } finally {
      resident.destroy();
    }
  }
}

/** How many workloads there are, and of those that were tried how many failed, and how many answers were compared and differ. */
interface Outcome {
  count: number;
  done: number;
  refused: number;
  checked: number;
  wrong: number;
}

function ended({ count, done, refused }: Outcome): string {
  const failed = refused > 0 ? ` ${refused} FAILED.` : "";
  return (done < count ? `Stopped after ${done} of ${count}.` : `All ${done} done.`) + failed;
}

/** What is said of the answers: of no more than were compared. */
function verdict({ count, checked, wrong }: Outcome): string {
  if (wrong > 0) return `${wrong} of ${checked} DIFFER from the reference!`;
  if (checked === 0) return "None was compared with the CPU reference.";
  return checked === count ? "All bit-equal to the CPU reference." : `The ${checked} compared are bit-equal to the CPU reference.`;
}

/** Good is a run that was not stopped, and in which nothing failed. */
function mood({ count, done, refused, wrong }: Outcome): string {
  if (refused > 0 || wrong > 0) return "bad";
  return done === count ? "good" : "";
}

/** The workload with so many times its elements: first there are fewer outputs, then each of them is of fewer elements. */
function scaled(work: Workload, scale: number): Workload {
  const rank = Math.max(...work.shapes.map((shape) => shape.length));
  const sizeOf = (shape: number[], d: number) => shape.at(d - rank) ?? 1; // shapes are broadcast from the innermost dimension
  const sizes = Array.from({ length: rank }, (_, d) => Math.max(...work.shapes.map((shape) => sizeOf(shape, d))));
  const reduced = reducedAxes(work).map((axis) => (axis < 0 ? axis + rank : axis));
  const order = [...sizes.keys()].sort((a, b) => Number(reduced.includes(a)) - Number(reduced.includes(b)));
  let rest = scale;
  const own = [...sizes];
  for (const d of order) {
    own[d] = Math.max(1, Math.round(sizes[d]! * rest));
    rest *= sizes[d]! / own[d];
  }
  const fitted = (shape: number[]) => shape.map((size, n) => (size === 1 ? 1 : own[n + rank - shape.length]!));
  return { ...work, shapes: work.shapes.map(fitted) };
}

function reducedAxes({ op, axes, axis = -1 }: Workload): number[] {
  return op === "Max" ? [] : (axes ?? [axis]);
}

function operationOf(work: Workload, dtype: DType): Operation {
  const { op, shapes } = work;
  const axes = reducedAxes(work);
  switch (op) {
    case "ReduceMax":
      return reduceMax(dtype, shapes[0]!, { axes });
    case "ArgMax":
      return argMax(dtype, shapes[0]!, { axes });
    case "Hardmax":
      return hardmax(dtype, shapes[0]!, { along: axes[0]! });
    case "Max":
      return max(dtype, shapes);
  }
}

/** Random elements: floats in the range of 1 to 2 and their negatives, any integers. */
function randomBytes(dtype: DType, shape: number[]): Uint8Array {
  const [kept, set, size] = {
    f32: [0x807fffff, 0x3f800000, 4], f16: [0x83ff83ff, 0x3c003c00, 2], bf16: [0x807f807f, 0x3f803f80, 2],
    i64: [-1, 0, 8], u8: [-1, 0, 1],
  }[dtype as string]!;
  const bytes = size! * shape.reduce((len, size) => len * size, 1);
  const words = new Uint32Array(Math.ceil(bytes / 4));
  let state = 1;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13; // xorshift
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = (state & kept!) | set!;
  }
  return new Uint8Array(words.buffer, 0, bytes);
}

/** Bars, as long as gigabytes a second are many. */
class Chart {
  readonly #chart = element("chart");
  readonly #bars: { bar: HTMLElement; rate: number }[] = [];

  constructor() {
    this.#chart.replaceChildren();
  }

  add(work: Workload, bytes: number, milliseconds: number, equal?: boolean): void {
    const rate = bytes / milliseconds / 1e6;
    const figures = `${rate.toFixed(2)} GB/s · ${milliseconds.toFixed(2)} ms`;
    const { row, track } = this.#row(work, figures);
    const bar = track.appendChild(made("div", "bar"));
    this.#bars.push({ bar, rate });
    const most = Math.max(...this.#bars.map((own) => own.rate));
    for (const own of this.#bars) own.bar.style.width = `${(100 * own.rate) / most}%`;
    if (equal !== undefined) {
      row.lastElementChild!.append(made("span", equal ? "good" : "bad", equal ? " · bit-equal" : " · DIFFERS"));
    }
  }

  refuse(work: Workload, message: string): void {
    this.#row(work, message).row.lastElementChild!.classList.add("bad");
  }

  #row({ name, why, op, dtype, shapes }: Workload, figures: string) {
    const row = made("div", "row");
    row.title = why;
    const track = made("div", "track");
    const what = made("span", "what");
    const sizes = shapes.map((shape) => shape.join("×") || "scalar");
    what.append(made("span", "name", name), made("span", "shape", `${op} ${dtype} ${sizes.join(", ")}`));
    row.append(what, track, made("span", "figures", figures));
    this.#chart.append(row);
    return { row, track };
  }
}
