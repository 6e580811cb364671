import { calibrate, tunedLimits, type CalibrateOptions, type Calibration } from "./calibration.js";
import { integer, optional, record, refuse, type Check } from "./check.js";
import { catching, checkedDevice, refusing } from "./device.js";
import { padded, tensor, type Tensor } from "./elements.js";
import { BufferUsage, MAP_MODE_READ, SHADER_STAGE_COMPUTE } from "./flags.js";
import { inputBytes, isOperation, type Operation } from "./operation.js";
import { checkedLimits, checkedPlan, limitsOf, type Limits, type Dispatch, type Plan, type Shader } from "./plan.js";
import { load, plan, signature } from "./planner.js";
import { Prepared } from "./prepared.js";

const progress: Check<CalibrateOptions["progress"]> = (given, name) =>
  typeof given === "function" ? (given as CalibrateOptions["progress"]) : refuse(name, given, "a function");
const OPTIONS = record({ budget: optional(integer()), progress: optional(progress) }, "an object of options");

/** A device's pipelines, compiled when first needed and shared by every plan. Make one for each device and keep it. */
export class Kernels {
  readonly device: GPUDevice;
  #limits: Limits;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #loss: { message?: string } = {}; // the device keeps it as long as it lives, and must not keep the pipelines

  private constructor(device: GPUDevice, limits?: Limits) {
    this.device = checkedDevice(device, "Kernels: device");
    this.#limits = Object.freeze(checkedLimits(limits === undefined ? limitsOf(device) : limits, "Kernels: limits"));
    const loss = this.#loss;
    device.lost.then(({ message, reason }) => (loss.message = message || reason));
  }

  /** Loads the planner where that has not been done. The device needs no optional feature and no raised limit. */
  static async create(device: GPUDevice, limits?: Limits): Promise<Kernels> {
    const kernels = new Kernels(device, limits);
    await load();
    return kernels;
  }

  /** What plans for this device need to know of it. */
  get limits(): Limits {
    return this.#limits;
  }

  /**
   * Measures on this device which tuning is fastest; nothing else should run on it meanwhile. Keep the result, and give it to
   * `tune`, now and whenever the page is loaded again. It takes some 200 MiB of the device's memory.
   */
  async calibrate(options: CalibrateOptions = {}): Promise<Calibration> {
    const own = OPTIONS(options, "calibrate: options") as CalibrateOptions;
    const apart = new Kernels(this.device, this.limits); // what is compiled is dropped with it
    return calibrate(this.device, this.limits, { prepare: (plan) => apart.#prepare(plan), alive: () => apart.#alive() }, own);
  }

  /**
   * Takes the tuning of a calibration that was made on this device, by this version: plans follow it from now on. Another device
   * whose `adapterInfo` says the same, or as little, is not told apart.
   */
  tune(calibration: Calibration): void {
    this.#limits = Object.freeze(tunedLimits(this.device, this.#limits, calibration, "tune: calibration"));
  }

  /** How many pipelines have been asked for. */
  get pipelineCount(): number {
    return this.#pipelines.size;
  }

  /** The plan of an operation for this device. */
  plan(operation: Operation): Plan {
    return plan(operation, this.limits);
  }

  /** Compiles what the plan needs and is not there yet, and makes a buffer of its parameters. Nothing goes through the queue. */
  async prepare(what: Operation | Plan): Promise<Prepared> {
    return this.#prepare(isOperation(what) ? this.plan(what) : checkedPlan(what, "prepare: plan"));
  }

  /** Uploads typed arrays, runs the operation and reads its outputs back. */
  async run(operation: Operation, inputs: readonly ArrayBufferView[]): Promise<Tensor[]> {
    const own = this.plan(operation);
    const bytes = inputBytes(operation, inputs, "run");
    const made: GPUBuffer[] = [];
    let prepared: Prepared | undefined;
    try {
      const sources = await catching(this.device, () => bytes.map((own) => this.#filled(made, own)));
      prepared = await this.#prepare(own);
      const readBacks = await catching(this.device, () => this.#submit(made, prepared!, sources));
      await refusing(Promise.all(readBacks.map((own) => own.mapAsync(MAP_MODE_READ))));
      const read = readBacks.map((own) => own.getMappedRange().slice(0));
      return signature(operation).outputs.map(({ dtype, shape }, n) => tensor(dtype, shape, read[n]!));
    } finally {
      prepared?.destroy();
      made.forEach((own) => own.destroy());
    }
  }

  #alive(): void {
    if (this.#loss.message !== undefined) throw new Error(`the device is lost: ${this.#loss.message}`);
  }

  async #prepare(own: Plan): Promise<Prepared> {
    this.#alive();
    const pipelines = await Promise.all(own.dispatches.map((dispatch) => this.#pipeline(own.shaders[dispatch.shader]!, dispatch)));
    return catching(this.device, (made) => new Prepared(this.device, own, pipelines, made));
  }

  #buffer(made: GPUBuffer[], size: number, usage: number, mappedAtCreation = false): GPUBuffer {
    const own = this.device.createBuffer({ size: Math.max(padded(size), 4), usage, mappedAtCreation });
    made.push(own);
    return own;
  }

  #filled(made: GPUBuffer[], bytes: Uint8Array): GPUBuffer {
    const size = Math.ceil(bytes.length / 16) * 16; // whole packs, as plans of shared buffers want them
    const own = this.#buffer(made, size, BufferUsage.STORAGE | BufferUsage.COPY_SRC, true);
    new Uint8Array(own.getMappedRange()).set(bytes);
    own.unmap();
    return own;
  }

  /** Runs it once: the buffers that its outputs are copied to. */
  #submit(made: GPUBuffer[], prepared: Prepared, sources: GPUBuffer[]): GPUBuffer[] {
    const { output_bytes, in_place } = prepared.plan;
    const outputs = output_bytes.map((bytes) => this.#buffer(made, bytes, BufferUsage.STORAGE | BufferUsage.COPY_SRC));
    const inputs = [...sources];
    if (in_place !== null) [inputs[in_place], outputs[0]] = [outputs[0]!, sources[in_place]!];
    const encoder = this.device.createCommandEncoder();
    prepared.bind({ inputs, outputs }).record(encoder);
    const readBacks = outputs.map((output) => {
      const readBack = this.#buffer(made, output.size, BufferUsage.COPY_DST | BufferUsage.MAP_READ);
      encoder.copyBufferToBuffer(output, 0, readBack, 0, output.size);
      return readBack;
    });
    this.device.queue.submit([encoder.finish()]);
    return readBacks;
  }

  /** Known by all that it is made of: a plan from elsewhere may say of another shader that it has the same key. */
  #pipeline(shader: Shader, dispatch: Dispatch): Promise<GPUComputePipeline> {
    const layout = dispatch.bindings.map(({ binding, access }) => [binding, access]);
    const key = JSON.stringify([shader.wgsl, shader.entry_point, shader.overrides, layout]);
    const known = this.#pipelines.get(key);
    if (known) return known;
    const pipeline = compile(this.device, shader, dispatch);
    this.#pipelines.set(key, pipeline);
    pipeline.catch(() => this.#pipelines.delete(key)); // another try may do better
    return pipeline;
  }
}

async function compile(device: GPUDevice, shader: Shader, dispatch: Dispatch): Promise<GPUComputePipeline> {
  let pipeline!: Promise<GPUComputePipeline>;
  await catching(device, () => {
    pipeline = asked(device, shader, dispatch);
    pipeline.catch(() => {}); // what is wrong with the text is told better, by the scope
  });
  return refusing(pipeline);
}

function asked(device: GPUDevice, shader: Shader, dispatch: Dispatch): Promise<GPUComputePipeline> {
  const label = `wgmax ${shader.label}`;
  const entry = (binding: number, type: GPUBufferBindingType): GPUBindGroupLayoutEntry =>
    ({ binding, visibility: SHADER_STAGE_COMPUTE, buffer: { type } });
  const storage = dispatch.bindings.map((b) => entry(b.binding, b.access === "read" ? "read-only-storage" : "storage"));
  const group = device.createBindGroupLayout({ label, entries: [entry(0, "uniform"), ...storage] });
  return device.createComputePipelineAsync({
    label,
    layout: device.createPipelineLayout({ label, bindGroupLayouts: [group] }),
    compute: {
      module: device.createShaderModule({ label, code: shader.wgsl }),
      entryPoint: shader.entry_point,
      constants: shader.overrides,
    },
  });
}
