import { hasMethods, refuse } from "./check.js";
import { catching } from "./device.js";
import { BufferUsage } from "./flags.js";
import type { Plan } from "./plan.js";
import { checkSlots, type BufferSlice, type Slots } from "./slots.js";

/** A plan with its pipelines and parameters on the device. It may be bound many times, to different buffers. */
export class Prepared {
  readonly #embedded: GPUBuffer[];
  readonly #params: GPUBuffer;
  /** Where each dispatch's parameters lie. */
  readonly #paramsAt: BufferSlice[];
  #scratch: GPUBuffer[] | undefined;
  #destroyed = false;

  /** @internal The buffers that it makes go into the list, too. */
  constructor(readonly device: GPUDevice, readonly plan: Plan, readonly pipelines: GPUComputePipeline[], made: GPUBuffer[]) {
    const filled = (words: number[], usage: number): GPUBuffer => {
      const size = Math.max(4 * words.length, 4);
      const buffer = device.createBuffer({ label: plan.label, size, usage, mappedAtCreation: true });
      made.push(buffer);
      new Uint32Array(buffer.getMappedRange()).set(words);
      buffer.unmap();
      return buffer;
    };
    this.#embedded = plan.embedded.map((words) => filled(words, BufferUsage.STORAGE));
    const params = aligned(plan.dispatches.map((own) => own.params), device.limits.minUniformBufferOffsetAlignment / 4);
    this.#params = filled(params.words, BufferUsage.UNIFORM);
    this.#paramsAt = params.ranges.map(([begin, end]) => ({ buffer: this.#params, offset: 4 * begin, size: 4 * (end - begin) }));
  }

  /** Checks the buffers and makes the bind groups: what is left is recorded with no further checks or allocations. */
  bind(slots: Slots): Bound {
    const { device, plan, pipelines } = this;
    this.#alive("bind");
    const given = checkSlots(plan, slots, device, () => this.#ownScratch().map(whole));
    const buffers = { ...given, embedded: this.#embedded.map(whole) };
    const dispatches = plan.dispatches.map((dispatch, n) => {
      const entries = dispatch.bindings.map(({ binding, slot, index, offset_bytes, bytes: size }) => {
        const { buffer, offset } = buffers[slot][index]!;
        return { binding, resource: { buffer, offset: offset + offset_bytes, size } };
      });
      const pipeline = pipelines[n]!;
      const params = { binding: 0, resource: this.#paramsAt[n]! };
      const layout = pipeline.getBindGroupLayout(0);
      const group = device.createBindGroup({ label: plan.label, layout, entries: [params, ...entries] });
      return { pipeline, group, grid: dispatch.grid };
    });
    return new Bound(plan.label, dispatches, () => this.#alive("record"));
  }

  /** Frees the parameters, and the scratch that was made here. What was bound cannot be submitted any more. */
  destroy(): void {
    this.#destroyed = true;
    [this.#params, ...this.#embedded, ...(this.#scratch ?? [])].forEach((buffer) => buffer.destroy());
  }

  #alive(wanted: string): void {
    if (this.#destroyed) throw new Error(`${wanted}: ${this.plan.label} was destroyed`);
  }

  /** One set for all that is bound without any: the dispatches of a queue run one after the other. */
  #ownScratch(): GPUBuffer[] {
    return (this.#scratch ??= this.#makeScratch());
  }

  /** What the device refuses is not kept for what is bound next. Of the bind group that has it WebGPU tells the caller. */
  #makeScratch(): GPUBuffer[] {
    let scratch!: GPUBuffer[];
    const making = catching(this.device, (made) => {
      scratch = made;
      for (const bytes of this.plan.scratch_bytes) {
        made.push(this.device.createBuffer({ label: "wgmax scratch", size: Math.max(bytes, 4), usage: BufferUsage.STORAGE }));
      }
    });
    making.catch(() => (this.#scratch = undefined));
    return scratch;
  }
}

/** A prepared plan with its buffers: record it as often as you like, in any encoder of its device. */
export class Bound {
  /** @internal */
  constructor(
    readonly label: string,
    readonly dispatches: { pipeline: GPUComputePipeline; group: GPUBindGroup; grid: [number, number, number] }[],
    readonly alive: () => void,
  ) {}

  /** Records the dispatches into a compute pass of their own, or into an open one. Nothing is submitted. */
  record(target: GPUCommandEncoder | GPUComputePassEncoder): void {
    const isEncoder = hasMethods(target, "beginComputePass");
    if (!isEncoder && !hasMethods(target, "dispatchWorkgroups")) {
      refuse("record: target", target, "a GPUCommandEncoder or a GPUComputePassEncoder");
    }
    this.alive();
    if (this.dispatches.length === 0) return;
    const own = isEncoder ? (target as GPUCommandEncoder).beginComputePass({ label: this.label }) : undefined;
    const pass = own ?? (target as GPUComputePassEncoder);
    for (const { pipeline, group, grid } of this.dispatches) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...grid);
    }
    own?.end();
  }
}

function whole(buffer: GPUBuffer): BufferSlice {
  return { buffer, offset: 0, size: buffer.size };
}

/** Lists of words one behind the other, each from a multiple of so many words on, and where each of them lies. */
function aligned(lists: number[][], step: number): { words: number[]; ranges: [begin: number, end: number][] } {
  const words: number[] = [];
  const ranges = lists.map((list): [number, number] => {
    while (words.length % step > 0) words.push(0);
    return [words.length, words.push(...list)];
  });
  return { words, ranges };
}
