import { BufferUsage, usageNames } from "./flags.js";
import { hasMethods, integer, listOf, optional, record, refuse, type Check } from "./check.js";
import type { Plan } from "./plan.js";

/**
 * The buffers of one use of a plan, in the plan's order, each whole or from an offset on. Offsets are multiples of the
 * device's `minStorageBufferOffsetAlignment`, and every buffer has the usage `STORAGE`.
 *
 * What is written (outputs and scratch) must not overlap anything else. WebGPU refuses a dispatch that reads and writes one
 * buffer: keep outputs and scratch in other buffers than inputs, and each scratch in a buffer of its own; or plan with the
 * limit `shared_buffers`, and everything may lie in one.
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
  const wrong: Wrong = (message) => {
    throw new Error(`bind: ${plan.label}: ${message}`);
  };
  const count = (what: string, given: number, expected: number) => {
    if (given !== expected) wrong(`${given} ${what} given, ${expected} expected`);
  };
  const given = { input, output, scratch };
  const needed = { input: plan.input_bytes, output: plan.output_bytes, scratch: plan.scratch_bytes };
  count("inputs", given.input.length, needed.input.length);
  count("outputs", given.output.length, needed.output.length);
  const fewest = needed.scratch.findLastIndex((bytes) => bytes > 0) + 1;
  const most = needed.scratch.length;
  count("scratch buffers", given.scratch.length, Math.min(Math.max(given.scratch.length, fewest), most));

  const used: Used[] = (["input", "output", "scratch"] as const).flatMap((kind) =>
    needed[kind].flatMap((bytes, n) => (bytes > 0 ? [{ kind, name: `${kind} ${n}`, bytes, ...given[kind][n]! }] : [])));
  const alignment = device.limits.minStorageBufferOffsetAlignment;
  for (const { name, buffer, offset, size, bytes } of used) {
    if (size < bytes) wrong(`${name} has ${size} bytes, ${bytes} are needed`);
    if (offset % alignment !== 0) {
      wrong(`${name} starts at byte ${offset} of its buffer, a multiple of ${alignment} is needed (a view's offset, in elements, may be anything)`);
    }
    if (!(buffer.usage & BufferUsage.STORAGE)) {
      wrong(`${name} is a buffer without the usage STORAGE: it has ${usageNames(buffer.usage)}`);
    }
  }
  for (const a of used.filter((own) => own.kind !== "input")) {
    const other = used.find((b) => b !== a && overlap(a, b));
    if (other) wrong(`${a.name} overlaps ${other.name}, ${bytesOf(a)} and ${bytesOf(other)} of one buffer`);
  }
  const shared = plan.dispatches.every(({ bindings }) => bindings.every((b) => b.access === "read_write"));
  shared ? checkInputsApart(plan, used, wrong) : checkBuffersApart(given, needed.input, wrong);
  return given;
}

/** Refuses what is bound, with the plan's label. */
type Wrong = (message: string) => never;

interface Used extends BufferSlice {
  kind: Kind;
  name: string;
  /** Those that are needed. */
  bytes: number;
}

const bytesOf = ({ offset, bytes }: Used) => `bytes ${offset} to ${offset + bytes}`;

const overlap = (a: Used, b: Used) =>
  a.buffer === b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;

/** No buffer is both read and written. That asks nothing of the dispatches, which depend on shapes. */
function checkBuffersApart({ input, output, scratch }: Record<Kind, BufferSlice[]>, needed: number[], wrong: Wrong): void {
  const named = (kind: Kind, slices: BufferSlice[]) => slices.map(({ buffer }, n) => ({ name: `${kind} ${n}`, buffer }));
  const scratches = named("scratch", scratch);
  const reads = [...named("input", input).filter((_, n) => needed[n]! > 0), ...scratches];
  for (const written of [...named("output", output), ...scratches]) {
    const read = reads.find((own) => own.name !== written.name && own.buffer === written.buffer);
    if (read) {
      wrong(`${written.name} is written, and lies in the buffer of ${read.name}: plan with the limit shared_buffers, or use two`);
    }
  }
}

/** No byte is bound twice by one dispatch: inputs of one are apart. What is written overlaps nothing anyway. */
function checkInputsApart(plan: Plan, used: Used[], wrong: Wrong): void {
  for (const { bindings } of plan.dispatches.filter((own) => own.bindings.length > 2)) {
    const bound = used.filter(({ name }) => bindings.some(({ slot, index }) => name === `${slot} ${index}`));
    bound.forEach((own, n) => {
      const other = bound.slice(0, n).find((other) => overlap(own, other));
      if (other) {
        wrong(`${own.name} overlaps ${other.name}, ${bytesOf(own)} and ${bytesOf(other)} of one buffer, in a plan with the limit shared_buffers: make it one of its views, by viewsOf`);
      }
    });
  }
}
