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
  constants: number[][];
  shaders: Shader[];
  passes: Pass[];
}

/** A shader. Two of one key are the same. */
export interface Shader {
  key: string;
  label: string;
  wgsl: string;
  entry_point: string;
  /** The values of `override` declarations. */
  constants: Record<string, number>;
}

/** One dispatch. */
export interface Pass {
  /** Its place in `shaders`. */
  shader: number;
  /** The words of the uniform buffer at binding 0. */
  params: number[];
  grid: [number, number, number];
  bindings: Binding[];
}

/** One storage binding of a pass, in group 0. */
export interface Binding {
  binding: number;
  slot: "input" | "output" | "scratch" | "constant";
  index: number;
  access: "read" | "read_write";
  /** From the slot's start. */
  offset_bytes: number;
  bytes: number;
}

/** What a plan needs to know of a device. */
export interface Limits {
  /** Software adapters like other access patterns than hardware. */
  adapter: "gpu" | "cpu";
  /** The fewest invocations that run in step: software adapters of 4 and of 8 differ in what they like. */
  subgroup_size: number;
  max_binding_bytes: number;
  binding_alignment_bytes: number;
  max_storage_bindings: number;
  max_group_invocations: number;
  max_group_memory_bytes: number;
  max_groups: number;
}

/** The limits that a device was created with, and the kind of its adapter. */
export function limitsOf(device: GPUDevice): Limits {
  const { limits, adapterInfo: info } = device;
  const software = info?.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|warp/i.test(`${info?.architecture} ${info?.description}`);
  return {
    adapter: software ? "cpu" : "gpu",
    subgroup_size: info?.subgroupMinSize ?? 4,
    max_binding_bytes: limits.maxStorageBufferBindingSize,
    binding_alignment_bytes: limits.minStorageBufferOffsetAlignment,
    max_storage_bindings: limits.maxStorageBuffersPerShaderStage,
    max_group_invocations: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
    max_group_memory_bytes: limits.maxComputeWorkgroupStorageSize,
    max_groups: limits.maxComputeWorkgroupsPerDimension,
  };
}
