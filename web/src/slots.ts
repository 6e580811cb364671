import { BufferUsage } from "./flags.js";
import { hasMethods, integer, listOf, optional, record, refuse, type Check } from "./check.js";
import type { Binding, Plan } from "./plan.js";

/**
 * The buffers of one use of a plan, in the plan's order, each whole or from an offset on. Offsets are multiples of the
 * device's `minStorageBufferOffsetAlignment`, and every buffer has the usage `STORAGE`.
 *
 * What is written (outputs and scratch) must not overlap anything else, and no dispatch may read and write one buffer:
 * keep outputs and scratch in other buffers than inputs, and each scratch in a buffer of its own.
 */
export interface Slots {
  inputs: readonly (GPUBuffer | GPUBufferBinding)[];
  outputs: readonly (GPUBuffer | GPUBufferBinding)[];
  /** Without them the prepared plan makes its own. */
  scratch?: readonly (GPUBuffer | GPUBufferBinding)[];
}

export interface BufferSlice {
  buffer: GPUBuffer;
  offset: number;
  size: number;
}

type Kind = "input" | "output" | "scratch";

const isBuffer = (given: unknown): given is GPUBuffer => hasMethods(given, "mapAsync", "destroy");
const expected = "a GPUBuffer or { buffer, offset, size }";
const buffer: Check<GPUBuffer> = (given, name) => (isBuffer(given) ? given : refuse(name, given, "a GPUBuffer"));
const part = record({ buffer, offset: optional(integer(), 0), size: optional(integer()) }, expected);
const slice: Check<BufferSlice> = (given, name) => {
  const { buffer, offset, size } = isBuffer(given) ? { buffer: given, offset: 0, size: undefined } : part(given, name);
  const end = offset + (size ?? 0);
  if (end > buffer.size) throw new Error(`${name} ends at byte ${end} of its buffer, which has ${buffer.size}`);
  return { buffer, offset, size: size ?? buffer.size - offset };
};
const slices = listOf(slice, "a list of buffers");
const SLOTS = record({ inputs: slices, outputs: slices, scratch: optional(slices) }, "{ inputs, outputs, scratch }");

/** The slots, if they are what the plan needs: WebGPU itself would say so later, and in its own terms. */
export function checkSlots(plan: Plan, slots: unknown, device: GPUDevice, own: () => BufferSlice[]): Record<Kind, BufferSlice[]> {
  const { inputs: input, outputs: output, scratch = own() } = SLOTS(slots, "bind: slots");
  const given = { input, output, scratch };
  const needed = { input: plan.input_bytes, output: plan.output_bytes, scratch: plan.scratch_bytes };
  count("inputs", given.input.length, needed.input.length);
  count("outputs", given.output.length, needed.output.length);
  const fewest = needed.scratch.findLastIndex((bytes) => bytes > 0) + 1;
  const most = needed.scratch.length;
  count("scratch buffers", given.scratch.length, Math.min(Math.max(given.scratch.length, fewest), most));

  const used = (["input", "output", "scratch"] as const).flatMap((kind) =>
    needed[kind].flatMap((bytes, n) => (bytes > 0 ? [{ kind, name: `${kind} ${n}`, bytes, ...given[kind][n]! }] : [])));
  const alignment = device.limits.minStorageBufferOffsetAlignment;
  for (const { name, buffer, offset, size, bytes } of used) {
    if (size < bytes) throw new Error(`${name} has ${size} bytes, ${bytes} are needed`);
    if (offset % alignment !== 0) {
      throw new Error(`${name} starts at byte ${offset} of its buffer, a multiple of ${alignment} is needed (a view's offset, in elements, may be anything)`);
    }
    if (!(buffer.usage & BufferUsage.STORAGE)) throw new Error(`${name} is a buffer without the usage STORAGE`);
  }
  for (const a of used.filter((own) => own.kind !== "input")) {
    const other = used.find((b) =>
      b !== a && a.buffer === b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes);
    if (other) throw new Error(`${a.name} overlaps ${other.name}`);
  }
  const bufferOf = ({ slot, index }: Binding) => (slot === "embedded" ? undefined : given[slot][index]!.buffer);
  const name = ({ slot, index }: Binding) => `${slot} ${index}`;
  for (const { bindings } of plan.dispatches) {
    const reads = bindings.filter((b) => b.access === "read");
    for (const written of bindings.filter((b) => b.access === "read_write")) {
      const read = reads.find((b) => bufferOf(b) === bufferOf(written));
      if (read) {
        throw new Error(`${name(written)} is written and ${name(read)} read by one dispatch, and both lie in one buffer`);
      }
    }
  }
  return given;
}

function count(what: string, given: number, expected: number): void {
  if (given !== expected) throw new Error(`${given} ${what} given, ${expected} expected`);
}
