// Arguments at random. A call in which nothing is wrong answers as the reference does, or refuses with an Error of the
// library's; one in which something is wrong is refused with an Error that names it.
import { Kernels, argMax, hardmax, max, plan, reduceMax, signature } from "wgmax";
import { reference } from "wgmax/reference";
import { firstDifference } from "./routes.js";

/** As many calls, and as many right ones of each kind on the device: most take a pipeline of their own. */
const CALLS = 20_000;
const ON_DEVICE = 16;
/** The least of right answers of each kind: of less, the library refuses what it should answer. */
const LEAST_RIGHT = { reduceMax: 1500, argMax: 900, hardmax: 900, max: 600, "max with viewsOf": 100 };
const SEED = 20261122;

const DTYPES = ["f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"];
const ARRAYS = {
  f32: Float32Array, f16: Uint16Array, bf16: Uint16Array, f64: Float64Array, i8: Int8Array, i16: Int16Array, i32: Int32Array,
  i64: BigInt64Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array, bool: Uint8Array,
};

/** What nothing takes. */
const NOTHING = [null, NaN, -Infinity, 2n ** 70n, Symbol("any"), () => 1, new Date(0), new Map([["shape", [1]]]), new Set([1]), /1/, Promise.resolve(1)];
const NO_INTEGER = [...NOTHING, 1.5, 2 ** 53, -(2 ** 53), "1", 1n, true, [], {}, [1]];
const NO_SIZE = [...NO_INTEGER, -1, undefined];
const NO_LIST = [...NOTHING, 1, "12", { length: 1, 0: 1 }, true, new DataView(new ArrayBuffer(8)), new ArrayBuffer(8)];
const NO_CHOICE = [...NOTHING, 0, "", "Least", "__proto__", ["ignore"], {}, false];
const NO_FLAG = [...NOTHING, 0, 1, "true", "", [], {}];
const NO_OPTION = ["axis", "keep_dims", "Axes", "__proto__", "constructor", "0", "in_place", "slices", ""];

class Source {
  #state;

  constructor(seed) {
    this.#state = seed;
  }

  /** A number below this (xorshift). */
  below(limit) {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  from(list) {
    return list[this.below(list.length)];
  }

  one(of) {
    return this.below(of) === 0;
  }
}

/** A call drawn, with at most one thing wrong: where and how it is called in messages. */
class Call {
  wrong;
  #spoil;
  #places = 0;

  /** The place of this number is spoilt, if there are as many. */
  constructor(source, spoil) {
    this.source = source;
    this.#spoil = spoil;
  }

  /** What is right, or at the place chosen what is wrong. */
  value(name, right, wrong) {
    if (this.#places++ !== this.#spoil) return right;
    this.wrong = name;
    return this.source.from(wrong);
  }

  list(name, numbers, wrong) {
    const own = numbers.map((number, n) => this.value(`${name}[${n}]`, number, wrong));
    return this.value(name, own, NO_LIST);
  }

  shape() {
    return Array.from({ length: this.source.below(4) }, () => this.source.from([0, 1, 1, 2, 3, 4, 5, 7]));
  }

  input(name, shape = this.shape()) {
    const { source } = this;
    if (source.one(2)) return this.value(name, this.list(name, shape, NO_SIZE), [...NO_LIST, {}, undefined]);
    const view = { shape: this.list(`${name}.shape`, shape, NO_SIZE) };
    if (source.one(2)) view.strides = this.list(`${name}.strides`, shape.map(() => source.below(9)), [...NO_INTEGER, undefined]);
    if (source.one(2)) view.offset = this.value(`${name}.offset`, source.below(9), NO_SIZE.filter((own) => own !== undefined));
    return this.fields(name, view);
  }

  /** One field more than there should be, or no such object. */
  fields(name, own, wrong = [...NOTHING, 5, "axes", true]) {
    const unknown = this.value(`${name}.`, undefined, NO_OPTION);
    if (unknown !== undefined) Object.defineProperty(own, unknown, { value: 1, enumerable: true });
    return this.value(name, own, wrong);
  }

  axes(name) {
    const rank = 3;
    return this.list(name, Array.from({ length: this.source.below(3) }, () => this.source.below(2 * rank) - rank), [...NO_INTEGER, undefined]);
  }

  options(names) {
    const { source } = this;
    const make = {
      axes: (name) => this.axes(name),
      keepDims: (name) => this.value(name, source.one(2), NO_FLAG),
      selectLast: (name) => this.value(name, source.one(2), NO_FLAG),
      nan: (name) => this.value(name, source.from(["propagate", "ignore"]), NO_CHOICE),
      empty: (name) => this.value(name, source.from(["least", "lowest_finite", "error"]), NO_CHOICE),
      index: (name) => this.value(name, source.from(["i64", "i32", "u32"]), NO_CHOICE),
      output: (name) => this.value(name, source.from(["indices", "values_and_indices"]), NO_CHOICE),
      inPlace: (name) => this.value(name, source.below(3), NO_SIZE.filter((own) => own !== undefined)),
      viewsOf: (name) => this.pairs(name),
      constant: (name) => this.constant(name),
    };
    const own = {};
    for (const name of names) if (source.one(2)) own[name] = make[name](`options.${name}`);
    return this.fields("options", own);
  }

  /** Mostly of inputs that there are, in either order. */
  pairs(name) {
    const { source } = this;
    const drawn = Array.from({ length: source.below(2) + source.below(2) }, () => source.from([[0, 1], [1, 0], [1, 0], [source.below(3), source.below(3)]]));
    const own = drawn.map((pair, n) => this.list(`${name}[${n}]`, pair, NO_SIZE));
    return this.value(name, own, NO_LIST);
  }

  constant(name) {
    if (this.source.one(2)) {
      const one = this.dtype.endsWith("64") && !this.dtype.startsWith("f") ? 1n : 1;
      return this.value(name, one, [null, "1", "", [], [1], () => 1, Symbol("1"), new Float32Array(1), 2n ** 64n, ...(this.dtype.includes("f") ? [1n, true] : [0.5, NaN, Infinity, 2 ** 53])]);
    }
    const shape = this.shape();
    const data = random(this.source, this.dtype, shape.reduce((len, size) => len * size, 1));
    const other = this.dtype === "f64" ? Float32Array : Float64Array;
    const list = this.list(`${name}.shape`, shape, NO_SIZE);
    return this.fields(name, { shape: list, data: this.value(`${name}.data`, data, [...NO_LIST, [1], new other(data.length), undefined]) }, [null, "1", () => 1]);
  }

  /** The function and its arguments. */
  drawn() {
    const { source } = this;
    this.dtype = source.from(DTYPES);
    const type = this.value("dtype", this.dtype, [...NOTHING, "f33", "F32", "float32", "", 0, undefined, ["f32"], "toString"]);
    switch (source.below(4)) {
      case 0:
        return [reduceMax, type, this.input("input"), this.options(["axes", "keepDims", "nan", "empty"])];
      case 1:
        return [argMax, type, this.input("input"), this.options(["axes", "keepDims", "nan", "selectLast", "index", "output"])];
      case 2: {
        const input = this.input("input");
        const kind = source.from(["along", "from"]);
        const slices = this.fields("slices", { [kind]: this.value(`slices.${kind}`, source.below(6) - 3, NO_INTEGER) });
        return [hardmax, type, input, slices, this.options(["nan"])];
      }
      default: {
        const shape = this.shape();
        const first = this.input("inputs[0]", shape);
        const more = source.one(4) ? [first] : source.one(4) ? [] : [this.input("inputs[1]", source.one(2) ? shape : this.shape())];
        return [max, type, this.value("inputs", [first, ...more], NO_LIST), this.options(["constant", "nan", "inPlace", "viewsOf"])];
      }
    }
  }
}

function random(source, dtype, length) {
  const array = new ARRAYS[dtype](length);
  const bytes = new Uint8Array(array.buffer);
  for (let at = 0; at < bytes.length; at++) bytes[at] = dtype === "bool" ? source.below(2) : source.below(256);
  return array;
}

/** Fails where the call does anything else than it should; the operation and its answer, where it has one. */
function tried(call, source, limits) {
  const [make, ...given] = call.drawn();
  let operation;
  try {
    operation = make(...given);
  } catch (error) {
    check(error);
    if (call.wrong === undefined) throw new Error(`nothing is wrong, but: ${error.message}`);
    if (!error.message.includes(call.wrong)) throw new Error(`${call.wrong} is wrong, but: ${error.message}`);
    return undefined;
  }
  if (call.wrong !== undefined) throw new Error(`${call.wrong} is wrong, and was accepted`);
  try {
    const inputs = signature(operation).inputs.map(({ dtype, bytes }) => new Uint8Array(random(source, dtype, bytes / ARRAYS[dtype].BYTES_PER_ELEMENT).buffer));
    plan(operation, limits);
    return { kind: kindOf(operation, given.at(-1)), operation, inputs, expected: reference(operation, inputs) };
  } catch (error) {
    check(error); // what the library says of shapes, axes and the like
    return undefined;
  }
}

/** An Error of this package is nothing but an Error: all else has come from somewhere else. */
function check(error) {
  if (error?.constructor !== Error) throw new Error(`a foreign ${error?.constructor?.name}: ${error?.message ?? error}`);
}

/** What is counted apart. */
function kindOf(operation, options) {
  return operation.operator === "max" && options.viewsOf?.length > 0 ? "max with viewsOf" : operation.operator;
}

/** The outcome of all calls of the seed. */
export async function fuzz(device) {
  const begin = performance.now();
  const source = new Source(SEED);
  const kernels = await Kernels.create(device);
  const complaints = [];
  const seen = Object.fromEntries(Object.keys(LEAST_RIGHT).map((kind) => [kind, { right: 0, onDevice: 0 }]));
  for (let n = 0; n < CALLS && complaints.length < 10; n++) {
    const call = new Call(source, source.one(3) ? -1 : source.below(12));
    try {
      const own = tried(call, source, kernels.limits);
      if (!own) continue;
      const kind = seen[own.kind];
      kind.right++;
      if (kind.onDevice >= ON_DEVICE) continue;
      kind.onDevice++;
      const bytes = own.expected.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      const difference = firstDifference(bytes, await kernels.run(own.operation, own.inputs));
      if (difference) throw new Error(difference);
    } catch (error) {
      complaints.push(`seed ${SEED}, call ${n}: ${error.message}`);
    }
  }
  for (const [kind, { right, onDevice }] of Object.entries(seen)) {
    console.log(`  seed ${SEED}: ${kind}, ${right} answered, ${onDevice} on the device`);
    if (right < LEAST_RIGHT[kind]) complaints.push(`${kind}: ${right} answered, at least ${LEAST_RIGHT[kind]} expected`);
    if (onDevice < ON_DEVICE) complaints.push(`${kind}: ${onDevice} on the device, ${ON_DEVICE} expected`);
  }
  return { equal: CALLS - complaints.length, count: CALLS, complaints, seconds: (performance.now() - begin) / 1000 };
}
