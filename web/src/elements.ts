/** Elements on the host: the arrays that they come in, their bytes, and a number as a constant. */
import { arrayName, integer, kind, listOf, oneOf, refuse } from "./check.js";

/** A storage type. bool takes one byte, 0 or 1. */
export type DType =
  | "f32" | "f16" | "bf16" | "f64"
  | "i8" | "i16" | "i32" | "i64"
  | "u8" | "u16" | "u32" | "u64"
  | "bool";

/** The typed array that a tensor's elements come in. Halves come as their bits. */
export type TypedArray =
  | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>
  | Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Int32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>;

/** A tensor on the host. */
export interface Tensor {
  dtype: DType;
  shape: number[];
  data: TypedArray;
}

/** The most dimensions of a tensor, as the crate has them. */
export const MOST_DIMENSIONS = 64;

/** In the planner's order. */
const ARRAYS = {
  f32: Float32Array, f16: Uint16Array, bf16: Uint16Array, f64: Float64Array,
  i8: Int8Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array,
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
  bool: Uint8Array,
};

/** Other arrays with the same elements. */
const ALIKE: Partial<Record<DType, string>> = { f16: "Float16Array", u8: "Uint8ClampedArray" };

/** Floats of 16 bits: how many of them are the fraction, and the least exponent. */
const HALVES: Partial<Record<DType, [fraction: number, least: number]>> = { f16: [10, -14], bf16: [7, -126] };

export const DTYPES = Object.keys(ARRAYS) as DType[];
export const dtypeOf = oneOf(DTYPES);
export const sizes = listOf(integer(), "a list of sizes", MOST_DIMENSIONS);

export function elementBytes(dtype: DType): number {
  return ARRAYS[dtype].BYTES_PER_ELEMENT;
}

/** Up to a whole number of words. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

export function product(shape: readonly number[]): number {
  return shape.includes(0) ? 0 : shape.reduce((len, size) => len * size, 1);
}

/** The bytes of an array of the type's own kind; a `Uint8Array` is taken as bytes of any type. */
export function bytesOf(dtype: DType, given: unknown, name: string): Uint8Array {
  const kinds = [...new Set([ARRAYS[dtype].name, ALIKE[dtype] ?? "Uint8Array", "Uint8Array"])];
  if (!kinds.includes(arrayName(given) ?? "")) refuse(name, given, `for ${dtype} ${kinds.map(kind).join(" or ")}`);
  const { buffer, byteOffset, byteLength } = given as ArrayBufferView;
  const bytes = byteLength > 0 ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array();
  const wrong = dtype === "bool" ? bytes.findIndex((byte) => byte > 1) : -1;
  if (wrong >= 0) throw new Error(`${name}[${wrong}] is ${bytes[wrong]}, 0 or 1 expected for bool`);
  return bytes;
}

/** The tensor that the first bytes of a buffer are: what was read back of an output, for example. */
export function tensor(dtype: DType, shape: readonly number[], buffer: ArrayBuffer): Tensor {
  const own = { dtype: dtypeOf(dtype, "tensor: dtype"), shape: sizes(shape, "tensor: shape") };
  const given = bufferBytes(buffer) ?? refuse("tensor: buffer", buffer, "an ArrayBuffer");
  const needed = product(own.shape) * elementBytes(own.dtype);
  if (given < needed) throw new Error(`tensor: buffer has ${given} bytes, ${needed} are needed`);
  const bytes = given > 0 ? buffer : new ArrayBuffer(0); // one that was given away has none left, and cannot be looked into
  return { ...own, data: new ARRAYS[own.dtype](bytes, 0, product(own.shape)) };
}

/** A number as the one element of a constant: rounded to the nearest float; integers must be what they are. */
export function scalar(dtype: DType, given: number | bigint | boolean, name: string): Uint8Array {
  const array = new ARRAYS[dtype](1);
  const held = dtype.includes("f") ? float(dtype, array, given) : whole(dtype, array, given);
  if (!held) refuse(name, given, `a number that ${dtype} holds`);
  return new Uint8Array(array.buffer);
}

function float(dtype: DType, array: TypedArray, given: number | bigint | boolean): boolean {
  if (typeof given !== "number") return false;
  const half = HALVES[dtype];
  array[0] = half ? halfBits(given, ...half) : given;
  const infinite = half ? (array[0] & 0x7fff) === halfBits(Infinity, ...half) : Math.abs(array[0] as number) === Infinity;
  return infinite === (Math.abs(given) === Infinity);
}

function whole(dtype: DType, array: TypedArray, given: number | bigint | boolean): boolean {
  if (typeof given === "boolean" ? dtype !== "bool" : typeof given === "number" && !Number.isSafeInteger(given)) return false;
  const integer = BigInt(given);
  array[0] = elementBytes(dtype) === 8 ? integer : Number(BigInt.asIntN(32, integer));
  return BigInt(array[0]) === integer && (dtype !== "bool" || integer <= 1n);
}

/** The bits of the float of 16 bits that is nearest; of two the even one. */
function halfBits(value: number, fraction: number, least: number): number {
  const infinity = 0x7fff - (2 ** fraction - 1);
  if (Number.isNaN(value)) return infinity + 2 ** (fraction - 1);
  const magnitude = Math.abs(value);
  const high = new Uint32Array(new Float64Array([magnitude]).buffer)[1]!; // every host of WebGPU is little-endian
  const exponent = Math.max((high >>> 20) - 1023, least);
  const rounded = magnitude / 2 ** (exponent - fraction) + 2 ** 52 - 2 ** 52;
  const bits = Math.min((exponent - least) * 2 ** fraction + rounded, infinity);
  return bits + (value < 0 || Object.is(value, -0) ? 0x8000 : 0);
}

/** The length of an `ArrayBuffer` of whatever realm; undefined for everything else. */
function bufferBytes(given: unknown): number | undefined {
  try {
    return Reflect.get(ArrayBuffer.prototype, "byteLength", given) as number;
  } catch {
    return undefined;
  }
}
