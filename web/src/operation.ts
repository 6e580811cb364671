/** A storage type. bool takes one byte, 0 or 1. */
export type DType =
  | "f32" | "f16" | "bf16" | "f64"
  | "i8" | "i16" | "i32" | "i64"
  | "u8" | "u16" | "u32" | "u64"
  | "bool";

/** How a tensor lies in its buffer, all in elements. Strides may be zero or negative; without them it is contiguous. */
export interface View {
  shape: readonly number[];
  strides?: readonly number[];
  offset?: number;
}

/** A view, or the shape of a contiguous tensor at the start of its buffer. */
export type Input = View | readonly number[];

/** What NaN does: any gives NaN, and is the maximum for positions; or it loses to every number. */
export type NanPolicy = "propagate" | "ignore";

export interface ReduceMaxOptions {
  /** From `-rank` to `rank - 1`; all without this. */
  axes?: readonly number[];
  /** Whether the reduced dimensions stay, with size 1. */
  keepDims?: boolean;
  nan?: NanPolicy;
  /** What the maximum of nothing is: -inf or the minimum, the lowest finite number, or an error. */
  empty?: "least" | "lowest_finite" | "error";
}

export interface ArgMaxOptions {
  axes?: readonly number[];
  keepDims?: boolean;
  nan?: NanPolicy;
  /** Whether the last of equal maxima wins. */
  selectLast?: boolean;
  /** The indices' type; i64 without this. */
  index?: "i64" | "i32" | "u32";
  /** Indices alone, or the values as output 0 and the indices as output 1. */
  output?: "indices" | "values_and_indices";
}

/** One slice of Hardmax: the elements along an axis, or those of this axis and all after it. */
export type Slices = { along: number } | { from: number };

export interface HardmaxOptions {
  nan?: NanPolicy;
}

export interface MaxOptions {
  /** One more operand, which travels with the plan. */
  constant?: { shape: readonly number[]; data: ArrayBufferView };
  nan?: NanPolicy;
  /** The input that the output is written over. */
  inPlace?: number;
}

/** An operation, as the planner takes it. */
export type Operation =
  | { ReduceMax: object }
  | { ArgMax: object }
  | { Hardmax: object }
  | { Max: object };

/** The maximum over axes. */
export function reduceMax(dtype: DType, input: Input, options: ReduceMaxOptions = {}): Operation {
  const { axes, keepDims: keep_dims, nan, empty } = options;
  return { ReduceMax: { dtype, input: view(input), axes, keep_dims, nan, empty } };
}

/** The position of the maximum over axes. */
export function argMax(dtype: DType, input: Input, options: ArgMaxOptions = {}): Operation {
  const { axes, keepDims: keep_dims, nan, selectLast: select_last, index, output } = options;
  return { ArgMax: { dtype, input: view(input), axes, keep_dims, nan, select_last, index, output } };
}

/** 1 for the first maximum of each slice, 0 for everything else. */
export function hardmax(dtype: DType, input: Input, slices: Slices, options: HardmaxOptions = {}): Operation {
  return { Hardmax: { dtype, input: view(input), slices, nan: options.nan } };
}

/** The element-wise maximum of any number of tensors, broadcast together as numpy does. */
export function max(dtype: DType, inputs: readonly Input[], options: MaxOptions = {}): Operation {
  const { constant, nan, inPlace: in_place } = options;
  const operand = constant && { dtype, shape: constant.shape, bytes: [...bytesOf(constant.data)] };
  return { Max: { dtype, inputs: inputs.map(view), constant: operand, nan, in_place } };
}

function view(input: Input): View {
  return "shape" in input ? input : { shape: input };
}

/** The bytes that a typed array shows. */
export function bytesOf(data: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
}

/** The typed array that a tensor's elements come in. Halves come as their bits. */
export type TypedArray =
  | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>
  | Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Int32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>;

const ARRAYS = {
  f32: Float32Array, f16: Uint16Array, bf16: Uint16Array, f64: Float64Array,
  i8: Int8Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array,
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
  bool: Uint8Array,
};

/** A tensor on the host. */
export interface Tensor {
  dtype: DType;
  shape: number[];
  data: TypedArray;
}

/** The tensor that the first bytes of a buffer are. */
export function tensor(dtype: DType, shape: number[], buffer: ArrayBuffer): Tensor {
  return { dtype, shape, data: new ARRAYS[dtype](buffer, 0, shape.reduce((len, size) => len * size, 1)) };
}
