import { flag, integer, isPlain, listOf, oneOf, optional, record, refuse, text, type Check } from "./check.js";
import { checkedDevice } from "./device.js";

/** A plan, as docs/plan.md of the wgmax repository describes it. */
export interface Plan {
  version: 1;
  label: string;
  /** Bytes that each input needs from its binding's start; 0 where nothing is read. */
  input_bytes: number[];
  /** Bytes that each output needs; 0 where nothing is written. */
  output_bytes: number[];
  /** Bytes that each scratch buffer needs; 0 where it is not used. */
  scratch_bytes: number[];
  /** The input that output 0 is written over: it is not bound. */
  in_place: number | null;
  /** The words of the buffers that travel with the plan. */
  embedded: number[][];
  shaders: Shader[];
  dispatches: Dispatch[];
}

/** A shader. Two of one key are the same. */
export interface Shader {
  key: string;
  label: string;
  wgsl: string;
  entry_point: string;
  /** The values of `override` declarations. */
  overrides: Record<string, number>;
}

/** One dispatch. */
export interface Dispatch {
  /** Its place in `shaders`. */
  shader: number;
  /** The words of the uniform buffer at binding 0. */
  params: number[];
  grid: [number, number, number];
  bindings: Binding[];
}

/** One storage binding of a dispatch, in group 0. */
export interface Binding {
  binding: number;
  slot: "input" | "output" | "scratch" | "embedded";
  index: number;
  access: "read" | "read_write";
  /** From the slot's start. */
  offset_bytes: number;
  bytes: number;
}

/** What a plan needs to know of a device. */
export interface Limits {
  /** What runs the shaders: GPUs and each kind of software like other access patterns. */
  adapter: "hardware" | "lavapipe" | "swiftshader";
  max_binding_bytes: number;
  binding_alignment_bytes: number;
  max_storage_bindings: number;
  max_group_invocations: number;
  max_group_memory_bytes: number;
  max_groups: number;
  /**
   * No limit but a wish: whether inputs, outputs and scratch may lie in one buffer. Inputs are then given in whole packs of 16
   * bytes, and those of a Max must not overlap, unless `viewsOf` says that they are views of one.
   */
  shared_buffers?: boolean;
  /** How work is cut: no limit but what `Kernels.calibrate` found; without it the row of the adapter's kind. */
  tuning?: Tuning;
}

/** How work is cut for a device. Answers never depend on it. The crate's documentation of `Tuning` has each number. */
export interface Tuning {
  group: number;
  max_team: number;
  loads_per_member: number;
  busy_invocations: number;
  loads_per_split: number;
  runs_per_split: number;
  loads_per_turn: number;
  column_packs: number;
  few_packs: number;
  max_share: number;
  /** Not in WebGPU, which has no such integers. */
  int64: boolean;
}

/** The limits that a device was created with, and the kind of its adapter. */
export function limitsOf(device: GPUDevice): Limits {
  const { limits, adapterInfo: info } = checkedDevice(device, "limitsOf: device");
  const name = `${info?.architecture} ${info?.description}`;
  const software = info?.isFallbackAdapter || /swiftshader|warp/i.test(name) ? "swiftshader" : "hardware";
  return {
    adapter: /llvmpipe|lavapipe/i.test(name) ? "lavapipe" : software,
    max_binding_bytes: Math.min(limits.maxStorageBufferBindingSize, Number.MAX_SAFE_INTEGER),
    binding_alignment_bytes: limits.minStorageBufferOffsetAlignment,
    max_storage_bindings: limits.maxStorageBuffersPerShaderStage,
    max_group_invocations: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
    max_group_memory_bytes: limits.maxComputeWorkgroupStorageSize,
    max_groups: limits.maxComputeWorkgroupsPerDimension,
  };
}

const ADAPTERS = ["hardware", "lavapipe", "swiftshader"] as const;
export const checkedTuning: Check<Tuning> = record({
  group: integer(), max_team: integer(), loads_per_member: integer(), busy_invocations: integer(), loads_per_split: integer(),
  runs_per_split: integer(), loads_per_turn: integer(), column_packs: integer(),
  few_packs: integer(), max_share: integer(), int64: flag,
}, "a tuning");
const LIMITS = {
  adapter: oneOf(ADAPTERS),
  max_binding_bytes: integer(),
  binding_alignment_bytes: integer(),
  max_storage_bindings: integer(),
  max_group_invocations: integer(),
  max_group_memory_bytes: integer(),
  max_groups: integer(),
  shared_buffers: optional(flag, false),
  tuning: (given: unknown, name: string) => optional(checkedTuning)(given ?? undefined, name),
};

export const checkedLimits: Check<Limits> = (given, name) => {
  const { tuning, ...limits } = record(LIMITS, "the limits of a device")(given, name);
  return tuning === undefined ? limits : { ...limits, tuning: Object.freeze(tuning) };
};

/** In the planner's order. */
export function limitNumbers(limits: Limits): unknown[] {
  const { adapter, tuning, ...numbers } = limits;
  const { int64: _, ...tuned } = tuning ?? { int64: false };
  return [ADAPTERS.indexOf(adapter), ...Object.values(numbers).map(Number), tuning && Object.values(tuned)];
}

const word = integer(0, 2 ** 32 - 1);
const words = listOf(word, "a list of words");
const bytes = listOf(integer(), "a list of bytes");
const values: Check<Record<string, number>> = (given, name) => {
  if (!isPlain(given)) return refuse(name, given, "the values of overrides");
  return record(Object.fromEntries(Object.keys(given).map((key) => [key, value])))(given, name) as Record<string, number>;
};
const value: Check<number> = (given, name) => (Number.isFinite(given) ? (given as number) : refuse(name, given, "a number"));

const shader = record({ key: text, label: text, wgsl: text, entry_point: text, overrides: values }, "a shader", true);
const binding = record({
  binding: word, slot: oneOf(["input", "output", "scratch", "embedded"]), index: word, access: oneOf(["read", "read_write"]),
  offset_bytes: integer(), bytes: integer(1),
}, "a binding", true);
const grid: Check<[number, number, number]> = (given, name) => {
  const own = words(given, name);
  return own.length === 3 ? (own as [number, number, number]) : refuse(name, given, "three numbers of workgroups");
};
const dispatch = record({ shader: word, params: words, grid, bindings: listOf(binding, "a list of bindings") }, "a dispatch", true);
const version: Check<1> = (given, name) => (given === 1 ? 1 : refuse(name, given, "1"));
const PLAN = record({
  version, label: text, input_bytes: bytes, output_bytes: bytes, scratch_bytes: bytes,
  in_place: (given: unknown, name: string) => (given === null ? given : word(given, name)),
  embedded: listOf(words, "a list of buffers' words"), shaders: listOf(shader, "a list of shaders"),
  dispatches: listOf(dispatch, "a list of dispatches"),
}, "an operation or a plan", true);

/** A plan from wherever it is: nothing in it leads outside of it, or of what its slots are said to have. */
export const checkedPlan: Check<Plan> = (given, name) => {
  const own = PLAN(given, name);
  const { input_bytes: input, output_bytes: output, scratch_bytes: scratch } = own;
  const room = { input, output, scratch, embedded: own.embedded.map((words) => 4 * words.length) };
  const within = (place: number, name: string, of: unknown[]) => place < of.length || refuse(name, place, `less than ${of.length}`);
  if (own.in_place !== null) within(own.in_place, `${name}.in_place`, input);
  own.dispatches.forEach(({ shader, params, bindings }, p) => {
    const at = `${name}.dispatches[${p}]`;
    within(shader, `${at}.shader`, own.shaders);
    if (params.length === 0 || params.length % 4 > 0) refuse(`${at}.params`, params, "a multiple of four words");
    bindings.forEach(({ slot, index, offset_bytes, bytes }, b) => {
      within(index, `${at}.bindings[${b}].index`, room[slot]);
      const end = offset_bytes + bytes;
      if (end > room[slot][index]!) throw new Error(`${at}.bindings[${b}] ends at byte ${end}, ${slot} ${index} has ${room[slot][index]}`);
    });
  });
  return own;
};
