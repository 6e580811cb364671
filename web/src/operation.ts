/** Operations: what each function takes, as a table that checks it and puts it in the planner's order. */
import { flag, integer, isList, listOf, oneOf, optional, record, refuse, type Check } from "./check.js";
import {
  DTYPES, MOST_DIMENSIONS, bytesOf, dtypeOf, elementBytes, padded, product, scalar, sizes, type DType,
} from "./elements.js";
import { encoded, type Encoded } from "./encoded.js";

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

/** A tensor that travels with the plan. A number is a scalar; integers of 64 bits may be a bigint, bool true or false. */
export type Constant = number | bigint | boolean | { shape: readonly number[]; data: ArrayBufferView };

export interface MaxOptions {
  /** One more operand. */
  constant?: Constant;
  nan?: NanPolicy;
  /** The input that the output is written over. */
  inPlace?: number;
  /** Pairs of inputs: the first is another view of the second's buffer, and read there. */
  viewsOf?: readonly (readonly [number, number])[];
}

/** What `reduceMax`, `argMax`, `hardmax` or `max` gave. It never changes, and no copy of it will do. */
export interface Operation {
  readonly operator: "reduceMax" | "argMax" | "hardmax" | "max";
  readonly dtype: DType;
}

interface CheckedView {
  shape: number[];
  strides: number[] | undefined;
  offset: number;
}

/** What stands behind an operation. */
interface Known extends Encoded {
  dtype: DType;
  /** The views that are read from each input: none from what is a view of another. */
  reads: CheckedView[][];
}

/** In the planner's order. */
const OPERATORS = ["reduceMax", "argMax", "hardmax", "max"] as const;

/** A constant is written into every plan. */
const MOST_CONSTANT_BYTES = 1 << 24;

const axis = integer(-Number.MAX_SAFE_INTEGER);
const strides = listOf(axis, "a list of strides", MOST_DIMENSIONS);
const axes = optional(listOf(axis, "a list of axes", MOST_DIMENSIONS));
const keepDims = optional(flag, false);
const nan = choice("propagate", "ignore");

const shapeOrView = "a shape (a list of sizes) or a view { shape, strides, offset }";
const ownView = record({ shape: sizes, strides: optional(strides), offset: optional(integer(), 0) }, shapeOrView);
const view: Check<CheckedView> = (given, name) =>
  isList(given) ? { shape: sizes(given, name), strides: undefined, offset: 0 } : ownView(given, name);

const MOST_INPUTS = 1 << 15;
const inputNumber = integer(0, MOST_INPUTS - 1);
const pair = listOf(inputNumber, "a pair of inputs", 2);
const viewsOf = listOf<number[]>(
  (given, name) => (pair(given, name).length === 2 ? pair(given, name) : refuse(name, given, "a pair of inputs")),
  "a list of pairs of inputs",
);

const slices: Check<{ kind: number; axis: number }> = (given, name) => {
  const expected = "{ along: axis } or { from: axis }";
  const { along, from } = record({ along: optional(axis), from: optional(axis) }, expected)(given, name);
  if ((along === undefined) === (from === undefined)) refuse(name, given, expected);
  return { kind: along === undefined ? 1 : 0, axis: (along ?? from)! };
};

/** The maximum over axes. */
export const reduceMax: (dtype: DType, input: Input, options?: ReduceMaxOptions) => Operation = operator("reduceMax", () => ({
  input: view,
  options: options({ axes, keepDims, nan, empty: choice("least", "lowest_finite", "error") }),
}));

/** The position of the maximum over axes. */
export const argMax: (dtype: DType, input: Input, options?: ArgMaxOptions) => Operation = operator("argMax", () => ({
  input: view,
  options: options({
    axes,
    keepDims,
    nan,
    selectLast: optional(flag, false),
    index: choice("i64", "i32", "u32"),
    output: choice("indices", "values_and_indices"),
  }),
}));

/** 1 for the first maximum of each slice, 0 for everything else. */
export const hardmax: (dtype: DType, input: Input, slices: Slices, options?: HardmaxOptions) => Operation =
  operator("hardmax", () => ({ input: view, slices, options: options({ nan }) }));

/** The element-wise maximum of any number of tensors, broadcast together as numpy does. */
export const max: (dtype: DType, inputs: readonly Input[], options?: MaxOptions) => Operation = operator("max", (dtype) => ({
  inputs: listOf(view, "a list of inputs, each a shape or a view,", MOST_INPUTS),
  options: options({ constant: optional(constantOf(dtype)), nan, inPlace: optional(inputNumber), viewsOf: optional(viewsOf, []) }),
}));

type Table = Record<string, Check<unknown>>;

/** What was checked of each operation: none is believed that was not made here. */
const known = new WeakMap<object, Known>();

/** The function that makes an operation of a type and these arguments. What it says is wrong bears its name. */
function operator(name: Operation["operator"], table: (dtype: DType) => Table): (...given: unknown[]) => Operation {
  return (...given) => {
    const dtype = dtypeOf(given[0], `${name}: dtype`);
    const checks = Object.entries(table(dtype));
    if (given.length > checks.length + 1) {
      throw new Error(`${name}: ${given.length} arguments given, at most ${checks.length + 1} expected`);
    }
    const own = Object.fromEntries(checks.map(([key, check], n) => [key, check(given[n + 1], `${name}: ${key}`)]));
    const views = (own["inputs"] ?? [own["input"]]) as CheckedView[];
    const { viewsOf } = own["options"] as { viewsOf?: number[][] };
    const operation = Object.freeze({ operator: name, dtype });
    const choices = [OPERATORS.indexOf(name), DTYPES.indexOf(dtype)];
    known.set(operation, { dtype, reads: readsOf(views, viewsOf ?? []), ...encoded([...choices, ...Object.values(own)]) });
    return operation;
  };
}

/** Each view with the input that it is read from. Pairs that cannot be are for the planner to refuse. */
function readsOf(views: CheckedView[], viewsOf: number[][]): CheckedView[][] {
  const others = new Map(viewsOf.map(([own, other]) => [own!, other!]));
  const reads: CheckedView[][] = views.map(() => []);
  views.forEach((view, n) => reads[others.get(n) ?? n]?.push(view));
  return reads;
}

/** None of them needs to be given, nor the object that has them. */
function options(table: Table): Check<unknown> {
  const own = record(table, "an object of options");
  return (given, name) => own(given === undefined ? {} : given, name);
}

/** A choice's place among those that there are; the first where it is left out. */
function choice(...among: string[]): Check<number> {
  return optional((given, name) => among.indexOf(oneOf(among)(given, name)), 0);
}

function constantOf(dtype: DType): Check<{ shape: number[]; bytes: Uint8Array }> {
  const data: Check<Uint8Array> = (given, name) => bytesOf(dtype, given, name);
  const own = record({ shape: sizes, data }, "a number or { shape, data }");
  return (given, name) => {
    if (typeof given === "number" || typeof given === "bigint" || typeof given === "boolean") {
      return { shape: [], bytes: scalar(dtype, given, name) };
    }
    const { shape, data: bytes } = own(given, name);
    const expected = product(shape) * elementBytes(dtype);
    if (bytes.length !== expected) throw new Error(`${name}.data has ${bytes.length} bytes, ${expected} expected`);
    if (expected > MOST_CONSTANT_BYTES) {
      throw new Error(`${name}.data has ${expected} bytes, at most ${MOST_CONSTANT_BYTES} expected: give it as an input`);
    }
    return { shape, bytes: bytes.slice() };
  };
}

/** What the modules are given of an operation. */
export function knownOf(operation: unknown, name: string): Known {
  const own = known.get(operation as object); // anything may be asked for
  return own ?? refuse(name, operation, "what reduceMax, argMax, hardmax or max gave");
}

export function isOperation(given: unknown): given is Operation {
  return known.has(given as object);
}

/** The bytes of each input, if they are what the operation reads. The planner has accepted it: its pairs of inputs are right. */
export function inputBytes(operation: unknown, inputs: unknown, name: string): Uint8Array[] {
  const { dtype, reads } = knownOf(operation, `${name}: operation`);
  if (!isList(inputs)) return refuse(`${name}: inputs`, inputs, "a list of typed arrays");
  if (inputs.length !== reads.length) throw new Error(`${name}: ${inputs.length} inputs given, ${reads.length} expected`);
  return reads.map((views, n) => (views.length > 0 ? fitting(dtype, views, inputs[n], `${name}: inputs[${n}]`) : new Uint8Array()));
}

/** A contiguous tensor is given whole, or with padding to words; of other views, and of several, the tensor that they lie in. */
function fitting(dtype: DType, views: CheckedView[], given: unknown, name: string): Uint8Array {
  const bytes = bytesOf(dtype, given, name);
  const needed = Math.max(...views.map(span)) * elementBytes(dtype);
  if (bytes.length < needed) throw new Error(`${name} has ${bytes.length} bytes, ${needed} are needed`);
  const [{ shape, strides, offset }, ...others] = views as [CheckedView, ...CheckedView[]];
  const isWhole = others.length === 0 && !strides && offset === 0;
  if (isWhole && bytes.length !== needed && bytes.length !== padded(needed)) {
    throw new Error(`${name} has ${bytes.length} bytes, ${needed} expected for shape [${shape}]`);
  }
  return bytes.subarray(0, padded(needed));
}

/** The elements from the buffer's start to the last that the view reads. */
function span({ shape, strides, offset }: CheckedView): number {
  if (shape.includes(0)) return 0;
  if (!strides) return offset + product(shape);
  return strides.reduce((last, stride, d) => last + Math.max(0, (shape[d]! - 1) * stride), offset) + 1;
}
