import { argMax, type Bound, type Kernels, type Prepared } from "wgmax";
import { bestOf, differences, type Best } from "./ctc.js";
import type { Logits } from "./recogniser.js";

/** What lines of one length take: made once, and kept. */
interface Ready {
  prepared: Prepared;
  values: GPUBuffer;
  indices: GPUBuffer;
  readBack: GPUBuffer;
}

/** How long both ways of decoding took, in milliseconds, and what they downloaded. */
export interface Comparison {
  turns: number;
  gpu: { milliseconds: number; bytes: number };
  cpu: { milliseconds: number; bytes: number };
  /** The steps at which they did not agree. */
  differences: number;
}

/** Finds the best of each step of a network's output, where that is. */
export class Decoder {
  readonly #ready = new Map<number, Promise<Ready>>();

  constructor(private readonly kernels: Kernels) {}

  /** By ArgMax with values, on the device: two words for each step are downloaded. */
  async decode(logits: Logits): Promise<Best> {
    const ready = await this.#readyFor(logits);
    return this.#decode(ready, this.#bind(ready, logits), logits.steps);
  }

  /** Both ways in turns, as many as fit into the time, until they are no longer wanted. */
  async compare(logits: Logits, milliseconds: number, wanted: () => boolean): Promise<Comparison> {
    const { device } = this.kernels;
    const ready = await this.#readyFor(logits);
    const bound = this.#bind(ready, logits);
    const bytes = 4 * logits.steps * logits.classes;
    const whole = device.createBuffer({ size: bytes, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const times: { gpu: number[]; cpu: number[] } = { gpu: [], cpu: [] };
    let different = 0;
    const ways = {
      gpu: () => this.#decode(ready, bound, logits.steps),
      cpu: () => this.#download(logits, whole),
    };
    try {
      await device.queue.onSubmittedWorkDone();
      const end = performance.now() + milliseconds;
      // The first turn pays for what is made lazily, and is not counted.
      for (let turn = 0; turn < 4 || (turn < 40 && performance.now() < end && wanted()); turn++) {
        const answers: Best[] = [];
        for (const way of turn % 2 ? (["gpu", "cpu"] as const) : (["cpu", "gpu"] as const)) {
          const begin = performance.now();
          answers.push(await ways[way]());
          if (turn > 0) times[way].push(performance.now() - begin);
        }
        different = Math.max(different, differences(answers[0]!, answers[1]!));
      }
    } finally {
      whole.destroy();
    }
    return {
      turns: times.gpu.length,
      gpu: { milliseconds: median(times.gpu), bytes: ready.readBack.size },
      cpu: { milliseconds: median(times.cpu), bytes },
      differences: different,
    };
  }

  #readyFor({ steps, classes }: Logits): Promise<Ready> {
    let ready = this.#ready.get(steps);
    if (!ready) {
      this.#ready.set(steps, (ready = this.#make(steps, classes)));
      ready.catch(() => this.#ready.delete(steps)); // another try may do better
    }
    return ready;
  }

  async #make(steps: number, classes: number): Promise<Ready> {
    const { device } = this.kernels;
    const operation = argMax("f32", [steps, classes], { axes: [-1], index: "u32", output: "values_and_indices" });
    const output = () => device.createBuffer({ size: 4 * steps, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
    return {
      prepared: await this.kernels.prepare(operation),
      values: output(),
      indices: output(),
      readBack: device.createBuffer({ size: 8 * steps, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ }),
    };
  }

  /** The network's output is no copy: its buffer is bound as it is. */
  #bind({ prepared, values, indices }: Ready, { buffer }: Logits): Bound {
    return prepared.bind({ inputs: [buffer], outputs: [values, indices] });
  }

  async #decode({ values, indices, readBack }: Ready, bound: Bound, steps: number): Promise<Best> {
    const { device } = this.kernels;
    const encoder = device.createCommandEncoder();
    bound.record(encoder);
    encoder.copyBufferToBuffer(values, 0, readBack, 0, 4 * steps);
    encoder.copyBufferToBuffer(indices, 0, readBack, 4 * steps, 4 * steps);
    device.queue.submit([encoder.finish()]);
    await readBack.mapAsync(GPUMapMode.READ);
    const read = readBack.getMappedRange().slice(0);
    readBack.unmap();
    return { values: new Float32Array(read, 0, steps), indices: new Uint32Array(read, 4 * steps, steps) };
  }

  async #download({ buffer, classes }: Logits, whole: GPUBuffer): Promise<Best> {
    const { device } = this.kernels;
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, whole, 0, whole.size);
    device.queue.submit([encoder.finish()]);
    await whole.mapAsync(GPUMapMode.READ);
    const best = bestOf(new Float32Array(whole.getMappedRange()), classes);
    whole.unmap();
    return best;
  }
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}
