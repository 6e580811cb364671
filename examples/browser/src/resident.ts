import { Kernels, signature, tensor, type Bound, type Operation, type Prepared, type Tensor } from "wgmax";

/** An operation made ready once, its inputs and outputs in buffers on the device. */
export class Resident {
  readonly #buffers: GPUBuffer[] = [];
  #outputs: GPUBuffer[] = [];
  #bound!: Bound;

  private constructor(readonly device: GPUDevice, readonly operation: Operation, private readonly prepared: Prepared) {}

  /** Where the device has no room for it, nothing of it stays there. */
  static async create(kernels: Kernels, operation: Operation, inputs: Uint8Array[]): Promise<Resident> {
    const own = new Resident(kernels.device, operation, await kernels.prepare(operation));
    try {
      await own.#bind(inputs);
      return own;
    } catch (error) {
      own.destroy();
      throw error;
    }
  }

  async #bind(inputs: Uint8Array[]): Promise<void> {
    const { device, prepared } = this;
    device.pushErrorScope("validation");
    device.pushErrorScope("out-of-memory");
    let popped!: Promise<(GPUError | null)[]>;
    try {
      const sources = inputs.map((bytes) => {
        const buffer = this.#buffer(Math.ceil(bytes.length / 4) * 4, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
        device.queue.writeBuffer(buffer, 0, bytes as Uint8Array<ArrayBuffer>);
        return buffer;
      });
      this.#outputs = prepared.plan.output_bytes.map((size) =>
        this.#buffer(Math.max(size, 4), GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC));
      this.#bound = prepared.bind({ inputs: sources, outputs: this.#outputs });
    } finally {
      popped = Promise.all([device.popErrorScope(), device.popErrorScope()]);
    }
    const error = (await popped).find((error) => error);
    if (error) throw new Error(error.message);
  }

  #buffer(size: number, usage: number): GPUBuffer {
    const own = this.device.createBuffer({ size, usage });
    this.#buffers.push(own);
    return own;
  }

  /** Records, submits and waits until the device is done: the milliseconds that it took. */
  async step(): Promise<number> {
    const begin = performance.now();
    const encoder = this.device.createCommandEncoder();
    this.#bound.record(encoder);
    this.device.queue.submit([encoder.finish()]);
    await this.device.queue.onSubmittedWorkDone();
    return performance.now() - begin;
  }

  /** The median of some steps, after one that pays for what is made lazily. */
  async median(least: number, milliseconds: number): Promise<number> {
    await this.step();
    const times: number[] = [];
    const begin = performance.now();
    while (times.length < least || (performance.now() - begin < milliseconds && times.length < 100)) {
      times.push(await this.step());
    }
    return times.sort((a, b) => a - b)[times.length >> 1]!;
  }

  /** What the last step wrote. */
  async read(): Promise<Tensor[]> {
    const encoder = this.device.createCommandEncoder();
    const readBacks = this.#outputs.map((output) => {
      const readBack = this.device.createBuffer({ size: output.size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
      encoder.copyBufferToBuffer(output, 0, readBack, 0, output.size);
      return readBack;
    });
    this.device.queue.submit([encoder.finish()]);
    await Promise.all(readBacks.map((readBack) => readBack.mapAsync(GPUMapMode.READ)));
    const { outputs } = signature(this.operation);
    const tensors = outputs.map(({ dtype, shape }, n) => tensor(dtype, shape, readBacks[n]!.getMappedRange().slice(0)));
    readBacks.forEach((readBack) => readBack.destroy());
    return tensors;
  }

  destroy(): void {
    this.#buffers.forEach((buffer) => buffer.destroy());
    this.prepared.destroy();
  }
}

/** The bytes that an operation cannot do without: each input read once, each output written once. */
export function leastBytes(operation: Operation): number {
  const { inputs, outputs } = signature(operation);
  const sizes = { f64: 8, i64: 8, u64: 8, f32: 4, i32: 4, u32: 4, f16: 2, bf16: 2, i16: 2, u16: 2, i8: 1, u8: 1, bool: 1 };
  const written = outputs.map(({ dtype, shape }) => sizes[dtype] * shape.reduce((len, size) => len * size, 1));
  return [...inputs.map((need) => need.bytes), ...written].reduce((sum, bytes) => sum + bytes, 0);
}

/** Whether two lists of tensors have the same bits. */
export function bitEqual(a: Tensor[], b: Tensor[]): boolean {
  const bytes = ({ data }: Tensor) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const same = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, i) => byte === b[i]);
  return a.length === b.length && a.every((tensor, n) => same(bytes(tensor), bytes(b[n]!)));
}
