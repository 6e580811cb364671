import { BufferUsage, MAP_MODE_READ, SHADER_STAGE_COMPUTE } from "./flags.js";
import { bytesOf, tensor, type Operation, type Tensor } from "./operation.js";
import { limitsOf, type Limits, type Pass, type Plan, type Shader } from "./plan.js";
import { load, plan, signature } from "./planner.js";
import { checkSlots, type BufferSlice, type Slots } from "./slots.js";

/** A device's pipelines, compiled when first needed and shared by every plan. Make one for each device and keep it. */
export class Kernels {
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();

  private constructor(
    readonly device: GPUDevice,
    /** What plans for this device need to know of it. */
    readonly limits: Limits,
  ) {}

  /** Loads the planner where that has not been done. The device needs no optional feature and no raised limit. */
  static async create(device: GPUDevice, limits: Limits = limitsOf(device)): Promise<Kernels> {
    await load();
    return new Kernels(device, limits);
  }

  /** How many pipelines have been asked for. */
  get pipelineCount(): number {
    return this.#pipelines.size;
  }

  /** The plan of an operation for this device. */
  plan(operation: Operation): Plan {
    return plan(operation, this.limits);
  }

  /** Compiles what the plan needs and is not there yet, and makes its parameter buffer. Nothing goes through the queue. */
  async prepare(what: Operation | Plan): Promise<Prepared> {
    const own = "passes" in what ? what : this.plan(what);
    if (own.version !== 1) throw new Error(`a plan of version ${own.version}, 1 expected`);
    const pipelines = await Promise.all(own.passes.map((pass) => this.#pipeline(own.shaders[pass.shader]!, pass)));
    return catching(this.device, () => new Prepared(this.device, own, pipelines));
  }

  /** Uploads typed arrays, runs the operation and reads its outputs back. */
  async run(operation: Operation, inputs: ArrayBufferView[]): Promise<Tensor[]> {
    const { inputs: needs, outputs: types } = signature(operation);
    if (inputs.length !== needs.length) throw new Error(`${inputs.length} inputs given, ${needs.length} expected`);
    needs.forEach((need, n) => {
      const given = padded(inputs[n]!.byteLength);
      if (given < need.bytes) throw new Error(`input ${n} has ${given} bytes, ${need.bytes} are needed`);
    });
    const prepared = await this.prepare(operation);
    try {
      const outputs = await this.#runPrepared(prepared, inputs);
      return types.map(({ dtype, shape }, n) => tensor(dtype, shape, outputs[n]!));
    } finally {
      prepared.destroy();
    }
  }

  /** The outputs' bytes, each padded to whole words. */
  async #runPrepared(prepared: Prepared, inputs: ArrayBufferView[]): Promise<ArrayBuffer[]> {
    const { device } = this;
    const made: GPUBuffer[] = [];
    const buffer = (size: number, usage: number, content?: ArrayBufferView): GPUBuffer => {
      const own = device.createBuffer({ size: Math.max(padded(size), 4), usage, mappedAtCreation: !!content });
      made.push(own);
      if (content) {
        new Uint8Array(own.getMappedRange()).set(bytesOf(content));
        own.unmap();
      }
      return own;
    };
    const submit = (): GPUBuffer[] => {
      const usage = BufferUsage.STORAGE | BufferUsage.COPY_SRC;
      const sources = inputs.map((input) => buffer(input.byteLength, usage, input));
      const outputs = prepared.plan.output_bytes.map((bytes) => buffer(bytes, usage));
      const inPlace = prepared.plan.in_place;
      if (inPlace !== null) [sources[inPlace], outputs[0]] = [outputs[0]!, sources[inPlace]!];
      const encoder = device.createCommandEncoder();
      prepared.bind({ inputs: sources, outputs }).record(encoder);
      const readBacks = outputs.map((output) => {
        const readBack = buffer(output.size, BufferUsage.COPY_DST | BufferUsage.MAP_READ);
        encoder.copyBufferToBuffer(output, 0, readBack, 0, output.size);
        return readBack;
      });
      device.queue.submit([encoder.finish()]);
      return readBacks;
    };
    try {
      const readBacks = await catching(device, submit);
      await Promise.all(readBacks.map((readBack) => readBack.mapAsync(MAP_MODE_READ)));
      return readBacks.map((readBack) => readBack.getMappedRange().slice(0));
    } finally {
      made.forEach((own) => own.destroy());
    }
  }

  #pipeline(shader: Shader, pass: Pass): Promise<GPUComputePipeline> {
    const known = this.#pipelines.get(shader.key);
    if (known) return known;
    const pipeline = compile(this.device, shader, pass);
    this.#pipelines.set(shader.key, pipeline);
    pipeline.catch(() => this.#pipelines.delete(shader.key)); // another try may do better
    return pipeline;
  }
}

async function compile(device: GPUDevice, shader: Shader, pass: Pass): Promise<GPUComputePipeline> {
  let pipeline!: Promise<GPUComputePipeline>;
  await catching(device, () => {
    pipeline = asked(device, shader, pass);
    pipeline.catch(() => {}); // what is wrong with the text is told better, by the scope
  });
  return pipeline;
}

function asked(device: GPUDevice, shader: Shader, pass: Pass): Promise<GPUComputePipeline> {
  const label = `wgmax ${shader.label}`;
  const entry = (binding: number, type: GPUBufferBindingType): GPUBindGroupLayoutEntry =>
    ({ binding, visibility: SHADER_STAGE_COMPUTE, buffer: { type } });
  const storage = pass.bindings.map((b) => entry(b.binding, b.access === "read" ? "read-only-storage" : "storage"));
  const group = device.createBindGroupLayout({ label, entries: [entry(0, "uniform"), ...storage] });
  return device.createComputePipelineAsync({
    label,
    layout: device.createPipelineLayout({ label, bindGroupLayouts: [group] }),
    compute: {
      module: device.createShaderModule({ label, code: shader.wgsl }),
      entryPoint: shader.entry_point,
      constants: shader.constants,
    },
  });
}

/** A plan with its pipelines and parameters on the device. It may be bound many times, to different buffers. */
export class Prepared {
  readonly #constants: GPUBuffer[];
  readonly #params: GPUBuffer[];
  #scratch: GPUBuffer[] | undefined;

  /** @internal */
  constructor(readonly device: GPUDevice, readonly plan: Plan, readonly pipelines: GPUComputePipeline[]) {
    const filled = (words: number[], usage: number): GPUBuffer => {
      const buffer = device.createBuffer({ label: plan.label, size: 4 * words.length, usage, mappedAtCreation: true });
      new Uint32Array(buffer.getMappedRange()).set(words);
      buffer.unmap();
      return buffer;
    };
    this.#constants = plan.constants.map((words) => filled(words, BufferUsage.STORAGE));
    this.#params = plan.passes.map((pass) => filled(pass.params, BufferUsage.UNIFORM));
  }

  /** Checks the buffers and makes the bind groups: what is left is recorded with no further checks or allocations. */
  bind(slots: Slots): Bound {
    const { device, plan, pipelines } = this;
    const scratch = slots.scratch ?? this.#ownScratch();
    const buffers = { ...checkSlots(plan, { ...slots, scratch }, device), constant: this.#constants.map(whole) };
    const passes = plan.passes.map((pass, n) => {
      const entries = pass.bindings.map(({ binding, slot, index, offset_bytes, bytes: size }) => {
        const { buffer, offset } = buffers[slot][index]!;
        return { binding, resource: { buffer, offset: offset + offset_bytes, size } };
      });
      const pipeline = pipelines[n]!;
      const params = { binding: 0, resource: { buffer: this.#params[n]! } };
      const layout = pipeline.getBindGroupLayout(0);
      const group = device.createBindGroup({ label: plan.label, layout, entries: [params, ...entries] });
      return { pipeline, group, grid: pass.grid };
    });
    return new Bound(plan.label, passes);
  }

  /** Frees the parameters, and the scratch that was made here. What was bound cannot be submitted any more. */
  destroy(): void {
    [...this.#params, ...this.#constants, ...(this.#scratch ?? [])].forEach((buffer) => buffer.destroy());
  }

  /** One set for all that is bound without any: the dispatches of a queue run one after the other. */
  #ownScratch(): GPUBuffer[] {
    this.#scratch ??= this.plan.scratch_bytes.map((bytes) =>
      this.device.createBuffer({ label: "wgmax scratch", size: Math.max(bytes, 4), usage: BufferUsage.STORAGE }));
    return this.#scratch;
  }
}

/** A prepared plan with its buffers: record it as often as you like, in any encoder of its device. */
export class Bound {
  /** @internal */
  constructor(
    readonly label: string,
    readonly passes: { pipeline: GPUComputePipeline; group: GPUBindGroup; grid: [number, number, number] }[],
  ) {}

  /** Records the dispatches into a compute pass of their own, or into an open one. Nothing is submitted. */
  record(target: GPUCommandEncoder | GPUComputePassEncoder): void {
    if (this.passes.length === 0) return;
    const own = "beginComputePass" in target ? target.beginComputePass({ label: this.label }) : undefined;
    const pass = own ?? (target as GPUComputePassEncoder);
    for (const { pipeline, group, grid } of this.passes) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...grid);
    }
    own?.end();
  }
}

/** Makes GPU objects, or records and submits: what WebGPU finds wrong is thrown. */
async function catching<T>(device: GPUDevice, make: () => T): Promise<T> {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  let made: T | undefined;
  let thrown: unknown;
  try {
    made = make();
  } catch (error) {
    thrown = error;
  }
  const errors = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
  if (thrown !== undefined) throw thrown;
  const error = errors.find((error) => error);
  if (error) throw new Error(`the GPU refused: ${error.message}`);
  return made as T;
}

function whole(buffer: GPUBuffer): BufferSlice {
  return { buffer, offset: 0, size: buffer.size };
}

function padded(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}
