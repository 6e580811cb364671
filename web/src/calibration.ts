import { oneOf, record, refuse, text, type Check } from "./check.js";
import { catching, refusing } from "./device.js";
import { encoded } from "./encoded.js";
import { BufferUsage } from "./flags.js";
import { checkedTuning, limitNumbers, type Limits, type Plan, type Tuning } from "./plan.js";
import { planner } from "./planner.js";
import type { Bound, Prepared } from "./prepared.js";

/** A tuning that was found by measuring, and where: data to be kept, as docs/plan.md of the wgmax repository describes it. */
export interface Calibration {
  version: 1;
  /** Where it was measured, as far as the browser tells: it may leave fields of the adapter blank, and the driver always is. */
  platform: Platform;
  /** The kernels that were measured. */
  kernels: string;
  tuning: Tuning;
  /** Whether nothing was left to try before the time was over. */
  complete: boolean;
  /** The speed of each probe, in percent of what it was to begin with. */
  gains: { probe: string; speed_percent: number }[];
}

export interface Platform {
  adapter: string;
  backend: string;
  driver: string;
}

export interface CalibrateOptions {
  /** The milliseconds after which the best so far is taken: 10 000. */
  budget?: number;
  /** Is told now and then how far it is, in milliseconds, candidates timed, and those that were kept. */
  progress?: (step: { elapsed: number; budget: number; tried: number; kept: number }) => void;
}

/** The bytes that inputs are spread over, so that no run finds in a cache what the last one has read. */
const INPUT_BYTES = 160 * 2 ** 20;
const SCRATCH_BYTES = 8 * 2 ** 20;
/** The milliseconds that a batch of runs takes at least: clocks of pages step by a tenth of one. */
const BATCH = 10;
const LONG_SAMPLE = 120;
const MAX_REPEATS = 64;
const MOST_READY = 100;

export function platformOf(device: GPUDevice): Platform {
  const { vendor = "", architecture = "", device: name = "", description = "" } = device.adapterInfo ?? {};
  return { adapter: [vendor, architecture, name, description].filter(Boolean).join(" "), backend: "webgpu", driver: "" };
}

const PLATFORM = record({ adapter: text, backend: text, driver: text }, "a platform");
const CALIBRATION = record({
  version: (given: unknown, name: string) => (given === 1 ? 1 : refuse(name, given, "1")),
  platform: PLATFORM, kernels: text, tuning: checkedTuning,
}, "a calibration", true);

/** The limits with the tuning of a calibration, if it was made with these kernels on a device that calls itself the same. */
export function tunedLimits(device: GPUDevice, limits: Limits, given: unknown, name: string): Limits {
  const { platform, kernels, tuning } = CALIBRATION(given, name);
  const same: (what: string) => Check<string> = (expected) => oneOf([expected]);
  const here = platformOf(device);
  same(here.adapter)(platform.adapter, `${name}.platform.adapter`);
  same(here.backend)(platform.backend, `${name}.platform.backend`);
  same(here.driver)(platform.driver, `${name}.platform.driver`);
  const tuned = { ...limits, tuning };
  same(planner.get().kernels(encoded(limitNumbers(tuned)).words))(kernels, `${name}.kernels`);
  return tuned;
}

/** What a calibration takes of the kernels of a device. */
interface Host {
  prepare: (plan: Plan) => Promise<Prepared>;
  /** Throws where the device is lost: what it is given then takes no time at all, and is no error. */
  alive: () => void;
}

interface Ready {
  prepared: Prepared;
  bounds: Bound[];
  repeats: number;
}

/** Times what the planner's search asks for, until nothing is left to try or the time is over. */
export async function calibrate(device: GPUDevice, limits: Limits, host: Host, options: CalibrateOptions): Promise<Calibration> {
  const { budget = 10_000, progress } = options;
  const begin = performance.now();
  const search = new (planner.get().Calibrator)(encoded(limitNumbers({ ...limits, shared_buffers: false })).words);
  let bench: Bench | undefined;
  try {
    bench = await catching(device, (made) => new Bench(device, host.prepare, made));
    for (;;) {
      const elapsed = performance.now() - begin;
      const next = elapsed < budget ? search.next() : undefined;
      if (next === undefined) break;
      const { trial, plan } = JSON.parse(next);
      const time = await bench.sample(JSON.stringify(trial), plan);
      host.alive();
      search.timed(time);
      progress?.({ elapsed: performance.now() - begin, budget, tried: search.tried(), kept: search.kept() });
    }
    const { adapter, backend, driver } = platformOf(device);
    return JSON.parse(search.calibration(adapter, backend, driver));
  } finally {
    bench?.destroy();
    search.free();
  }
}

/** Buffers on a device, and plans that are ready to run on them. */
class Bench {
  readonly #ready = new Map<string, Ready>();
  readonly #input: GPUBuffer;
  readonly #scratch: GPUBuffer[];
  #output: GPUBuffer;
  /** How many runs there were: each reads another place. */
  #runs = 0;

  /** All buffers that it makes go into the list. */
  constructor(readonly device: GPUDevice, readonly prepare: Host["prepare"], readonly made: GPUBuffer[]) {
    this.#input = this.#buffer(INPUT_BYTES);
    this.#scratch = [SCRATCH_BYTES, SCRATCH_BYTES].map((size) => this.#buffer(size));
    this.#output = this.#buffer(4);
    // Floats in the range of 1 to 2 and their negatives.
    const words = Uint32Array.from({ length: 2 ** 18 }, () => ((Math.random() * 2 ** 32) & 0x807f83ff) | 0x3f803c00);
    for (let at = 0; at < INPUT_BYTES; at += words.byteLength) device.queue.writeBuffer(this.#input, at, words);
  }

  /** The milliseconds of one run: the least of some batches, once another took hardly longer. */
  async sample(key: string, plan: Plan): Promise<number> {
    const ready = this.#ready.get(key) ?? (await this.#makeReady(key, plan));
    const begin = performance.now();
    let least = await this.#batch(ready);
    while (performance.now() - begin < LONG_SAMPLE) {
      const time = await this.#batch(ready);
      const longer = Math.max(time, least);
      least = Math.min(time, least);
      if (longer <= 1.05 * least) break;
    }
    return least;
  }

  destroy(): void {
    this.#clear();
    this.made.forEach((own) => own.destroy());
  }

  #clear(): void {
    this.#ready.forEach(({ prepared }) => prepared.destroy());
    this.#ready.clear();
  }

  #buffer(size: number): GPUBuffer {
    const usage = BufferUsage.STORAGE | BufferUsage.COPY_DST;
    const own = this.device.createBuffer({ label: "wgmax calibration", size, usage });
    this.made.push(own);
    return own;
  }

  async #makeReady(key: string, plan: Plan): Promise<Ready> {
    if (this.#ready.size >= MOST_READY) this.#clear();
    const prepared = await this.prepare(plan);
    const ready: Ready = { prepared, bounds: [], repeats: 1 };
    this.#ready.set(key, ready); // what follows may fail, and this is destroyed all the same
    ready.bounds = await catching(this.device, () => this.#bounds(prepared));
    await this.#batch(ready); // the first run pays for what is made lazily
    const once = await this.#batch(ready);
    ready.repeats = Math.min(MAX_REPEATS, Math.max(1, Math.ceil(BATCH / Math.max(once, 0.01))));
    return ready;
  }

  /** The plan, bound to one place of the input after another. */
  #bounds(prepared: Prepared): Bound[] {
    const { input_bytes, output_bytes } = prepared.plan;
    const sizes = input_bytes.map((bytes) => Math.ceil(bytes / 256) * 256);
    const places = Math.floor(INPUT_BYTES / Math.max(1, sizes.reduce((sum, size) => sum + size, 0)));
    const needed = output_bytes.reduce((sum, bytes) => sum + bytes, 0);
    if (needed > this.#output.size) this.#output = this.#buffer(needed); // what was bound before keeps the old one
    let at = 0;
    const inputs = () => sizes.map((size) => ({ buffer: this.#input, offset: (at += size) - size, size }));
    const bind = () => prepared.bind({ inputs: inputs(), outputs: [this.#output], scratch: this.#scratch });
    return Array.from({ length: Math.min(8, Math.max(1, places)) }, bind);
  }

  /** The milliseconds of each run: from recording until the device is done, while errors are on their way, too. */
  async #batch({ bounds, repeats }: Ready): Promise<number> {
    const begin = performance.now();
    let time!: Promise<number>;
    await catching(this.device, () => {
      const encoder = this.device.createCommandEncoder();
      for (let n = 0; n < repeats; n++) bounds[this.#runs++ % bounds.length]!.record(encoder);
      this.device.queue.submit([encoder.finish()]);
      time = this.device.queue.onSubmittedWorkDone().then(() => (performance.now() - begin) / repeats);
      time.catch(() => {}); // what is wrong is told better, by the scope
    });
    return refusing(time);
  }
}
