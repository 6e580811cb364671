// What callers without TypeScript may do wrong. Every misuse is an Error of this package's own, which says what was given
// and what was expected: no TypeError from somewhere else, no trap of WebAssembly, and no wrong answer.
import * as wgmax from "wgmax";
import { reference } from "wgmax/reference";

const { Kernels, argMax, hardmax, limitsOf, max, plan, reduceMax, requestDevice, signature, tensor } = wgmax;

const LIMITS = {
  adapter: "hardware", max_binding_bytes: 1 << 27, binding_alignment_bytes: 256, max_storage_bindings: 8,
  max_group_invocations: 256, max_group_memory_bytes: 16384, max_groups: 65535,
};
const ROW = new Float32Array([1, 7, 3, 4, 5, 6]);

/** A Max whose second input lies behind its first, in the same buffer. */
const BEYOND = max("i32", [[4], { shape: [4], offset: 4 }], { viewsOf: [[1, 0]] });
const VALUES = Int32Array.of(1, 2, 7, 4, 8, -6, 5, 9);
const EMPTY = new Int32Array();

/** Fails unless it throws an Error, of no other kind, with this in its message. */
export async function refuses(run, message) {
  const error = await (async () => run())().then((value) => ({ value }), (thrown) => ({ thrown }));
  if (!("thrown" in error)) throw new Error(`was accepted (${JSON.stringify(error.value)?.slice(0, 100)}), expected: ${message}`);
  const { thrown } = error;
  if (thrown?.constructor !== Error) throw new Error(`a foreign ${thrown?.constructor?.name} (${thrown?.message ?? thrown}), expected: ${message}`);
  if (!thrown.message.includes(message)) throw new Error(`the message "${thrown.message}", expected: ${message}`);
}

/** Pages that are not isolated have none. */
const sharedBuffer = (bytes) => new (globalThis.SharedArrayBuffer ?? ArrayBuffer)(bytes);

/** Whether an array may have so many bytes here: in node it may, in Chromium 148 not. */
function holds(bytes) {
  try {
    return new Uint8Array(bytes).length === bytes;
  } catch {
    return false;
  }
}

class Options {
  axes = [0];
}

/** What needs no device: a call, and what its message has. */
const planning = {
  "a number that the type holds not": [() => max("u8", [[2]], { constant: 256 }), "max: options.constant is 256, a number that u8 holds expected"],
  "a fraction for integers": [() => max("i32", [[2]], { constant: 0.5 }), "max: options.constant is 0.5, a number that i32 holds"],
  "a bigint for floats": [() => max("f32", [[2]], { constant: 0n }), "max: options.constant is 0n, a number that f32 holds"],
  "beyond the halves": [() => max("f16", [[2]], { constant: 65520 }), "max: options.constant is 65520, a number that f16 holds"],
  "beyond the floats": [() => max("f32", [[2]], { constant: 1e39 }), "max: options.constant is 1e+39, a number that f32 holds"],
  "more than 2^53 as a number": [() => max("i64", [[2]], { constant: 2 ** 60 }), "a number that i64 holds expected"],
  "true for numbers": [() => max("u8", [[2]], { constant: true }), "max: options.constant is true, a number that u8 holds"],
  "2 for bool": [() => max("bool", [[2]], { constant: 2 }), "max: options.constant is 2, a number that bool holds"],
  "a constant without a shape": [() => max("f32", [[2, 3]], { constant: { data: new Float32Array(1) } }), "max: options.constant.shape is undefined, a list of sizes expected"],
  "a constant without data": [() => max("f32", [[2, 3]], { constant: { shape: [1] } }), "max: options.constant.data is undefined, for f32 a Float32Array or a Uint8Array expected"],
  "a constant of another type": [() => max("f32", [[2]], { constant: { shape: [1], data: new Float64Array(1) } }), "options.constant.data is a Float64Array of 1, for f32 a Float32Array or a Uint8Array expected"],
  "a constant of a list": [() => max("f32", [[2]], { constant: { shape: [1], data: [1] } }), "options.constant.data is a list of 1"],
  "a constant as a string": [() => max("f32", [[2]], { constant: "0" }), 'max: options.constant is "0", a number or { shape, data } expected'],
  "a constant of too few bytes": [() => max("f32", [[2]], { constant: { shape: [2], data: new Float32Array(3) } }), "options.constant.data has 12 bytes, 8 expected"],
  "a constant of many megabytes": [() => max("u8", [[1]], { constant: { shape: [2 ** 25], data: new Uint8Array(2 ** 25) } }), "at most 16777216 expected"],
  "bool bytes above 1": [() => max("bool", [[2]], { constant: { shape: [2], data: Uint8Array.of(1, 2) } }), "options.constant.data[1] is 2, 0 or 1 expected"],
  "an option's singular": [() => argMax("f32", [2, 3], { axis: 1 }), "argMax: options.axis is unknown, there are axes, keepDims, nan, selectLast, index, output"],
  "an option of Rust": [() => reduceMax("f32", [2, 3], { keep_dims: true }), "reduceMax: options.keep_dims is unknown, there are axes, keepDims, nan, empty"],
  "another function's option": [() => reduceMax("f32", [2, 3], { selectLast: true }), "reduceMax: options.selectLast is unknown"],
  "an option of a prototype": [() => reduceMax("f32", [2], Object.create(Object.create(null, { axis: { value: 1, enumerable: true } }))), "options.axis is unknown"],
  "an inherited name": [() => reduceMax("f32", [2], { constructor: 1 }), "options.constructor is unknown"],
  "a Map of options": [() => reduceMax("f32", [2], new Map([["axes", [0]]])), "reduceMax: options is a Map, an object of options expected"],
  "options of a class": [() => reduceMax("f32", [2], new Options()), "reduceMax: options is an Object, an object of options"],
  "axes in place of options": [() => reduceMax("f32", [2], [0]), "reduceMax: options is a list of 1, an object of options"],
  "null in place of options": [() => reduceMax("f32", [2], null), "reduceMax: options is null"],
  "a fourth argument": [() => argMax("f32", [2, 3], {}, { axes: [1] }), "argMax: 4 arguments given, at most 3 expected"],
  "one axis alone": [() => argMax("f32", [2, 3], { axes: 1 }), "argMax: options.axes is 1, a list of axes expected"],
  "an axis as a string": [() => argMax("f32", [2, 3], { axes: ["1"] }), 'argMax: options.axes[0] is "1", an integer from -2^53 + 1 to 2^53 - 1 expected'],
  "half an axis": [() => argMax("f32", [2, 3], { axes: [0.5] }), "options.axes[0] is 0.5, an integer"],
  "axis null": [() => argMax("f32", [2, 3], { axes: [null] }), "options.axes[0] is null"],
  "axes null": [() => argMax("f32", [2, 3], { axes: null }), "options.axes is null, a list of axes"],
  "keepDims 1": [() => reduceMax("f32", [2], { keepDims: 1 }), "reduceMax: options.keepDims is 1, true or false expected"],
  "another policy": [() => reduceMax("f32", [2], { nan: "omit" }), 'options.nan is "omit", one of "propagate", "ignore" expected'],
  "another index type": [() => argMax("f32", [2], { index: "u64" }), 'options.index is "u64", one of "i64", "i32", "u32"'],
  "no slices": [() => hardmax("f32", [2, 3]), "hardmax: slices is undefined, { along: axis } or { from: axis } expected"],
  "empty slices": [() => hardmax("f32", [2, 3], {}), "hardmax: slices is {  }, { along: axis } or { from: axis }"],
  "both slices": [() => hardmax("f32", [2, 3], { along: 0, from: 1 }), "hardmax: slices is { along, from }"],
  "other slices": [() => hardmax("f32", [2, 3], { over: 0 }), "hardmax: slices.over is unknown, there are along, from"],
  "an axis in place of slices": [() => hardmax("f32", [2, 3], 1), "hardmax: slices is 1"],
  "slices along nothing": [() => hardmax("f32", [2, 3], { along: null }), "hardmax: slices.along is null"],
  "one shape in place of a list": [() => max("f32", [6]), "max: inputs[0] is 6, a shape (a list of sizes) or a view { shape, strides, offset } expected"],
  "a view in place of a list": [() => max("f32", { shape: [6] }), "max: inputs is { shape }, a list of inputs"],
  "no inputs": [() => signature(max("f32", [])), "0 inputs given, at least 1 expected"],
  "in place of too much": [() => plan(max("f32", [[2]], { inPlace: 2 ** 32 }), LIMITS), "max: options.inPlace is 4294967296, an integer from 0 to 32767 expected"],
  "in place of -1": [() => max("f32", [[2]], { inPlace: -1 }), "max: options.inPlace is -1, an integer from 0"],
  "a view of itself": [() => plan(max("f32", [[2]], { viewsOf: [[0, 0]] }), LIMITS), "input 0 cannot be a view of input 0"],
  "a view of one": [() => max("f32", [[2]], { viewsOf: [[0]] }), "max: options.viewsOf[0] is "],
  "a pair in place of pairs": [() => max("f32", [[2], [2]], { viewsOf: [1, 0] }), "max: options.viewsOf[0] is 1, a pair of inputs expected"],
  "a wish as a number": [() => plan(reduceMax("f32", [2]), { ...LIMITS, shared_buffers: 1 }), "limits.shared_buffers is 1, true or false"],
  "half a tuning": [() => plan(reduceMax("f32", [2]), { ...LIMITS, tuning: { group: 256 } }), "limits.tuning.max_team is undefined, an integer"],
  "a tuning as a number": [() => plan(reduceMax("f32", [2]), { ...LIMITS, tuning: 1 }), "limits.tuning is 1, a tuning expected"],
  "no type": [() => reduceMax(), "reduceMax: dtype is undefined, one of"],
  "another library's type": [() => reduceMax("float32", [2]), 'reduceMax: dtype is "float32", one of "f32", "f16"'],
  "a property's name as type": [() => reduceMax("toString", [2]), 'dtype is "toString"'],
  "no input": [() => reduceMax("f32"), "reduceMax: input is undefined, a shape (a list of sizes) or a view"],
  "null as input": [() => reduceMax("f32", null), "reduceMax: input is null"],
  "a shape as text": [() => reduceMax("f32", "23"), 'reduceMax: input is "23"'],
  "a tensor as input": [() => reduceMax("f32", { dtype: "f32", shape: [6], data: ROW }), "reduceMax: input.dtype is unknown, there are shape, strides, offset"],
  "a view without shape": [() => reduceMax("f32", { strides: [1] }), "reduceMax: input.shape is undefined"],
  "strides null": [() => reduceMax("f32", { shape: [2], strides: null }), "reduceMax: input.strides is null, a list of strides"],
  "an offset below": [() => reduceMax("f32", { shape: [2], offset: -1 }), "reduceMax: input.offset is -1, an integer from 0 to 2^53 - 1 expected"],
  "a size below": [() => reduceMax("f32", [-2]), "reduceMax: input[0] is -2, an integer from 0 to 2^53 - 1 expected"],
  "half a size": [() => reduceMax("f32", [1.5]), "reduceMax: input[0] is 1.5"],
  "NaN as size": [() => reduceMax("f32", [NaN]), "reduceMax: input[0] is NaN"],
  "2^53 as size": [() => reduceMax("f32", [2 ** 53]), "reduceMax: input[0] is 9007199254740992"],
  "a bigint as size": [() => reduceMax("f32", [2n]), "reduceMax: input[0] is 2n"],
  "sizes left open": [() => reduceMax("f32", new Array(3)), "reduceMax: input[0] is undefined"],
  "sizes of 64 bits": [() => reduceMax("f32", new BigInt64Array(2)), "reduceMax: input[0] is 0n"],
  "more dimensions than tensors have": [() => reduceMax("f32", Array(65).fill(1)), "reduceMax: input has 65 entries, at most 64 expected"],
  "billions of dimensions": [() => { const shape = []; shape[2 ** 32 - 2] = 1; return reduceMax("f32", shape); }, "at most 64 expected"],
  "a function as a size": [() => reduceMax("f32", [() => 1]), "reduceMax: input[0] is a function"],
  "a symbol as a size": [() => reduceMax("f32", [Symbol("2")]), "reduceMax: input[0] is Symbol(2)"],
  "an operation made by hand": [() => signature({ ReduceMax: { dtype: "f32", input: { shape: [2] } } }), "signature: operation is { ReduceMax }, what reduceMax, argMax, hardmax or max gave expected"],
  "an unknown operator": [() => plan({ MinMax: { dtype: "f32", input: { shape: [2] }, slices: { along: 0 } } }, LIMITS), "plan: operation is { MinMax }"],
  "a copy of an operation": [() => signature(structuredClone(reduceMax("f32", [2]))), "signature: operation is { operator, dtype }"],
  "no operation": [() => signature(), "signature: operation is undefined"],
  "an operation null": [() => plan(null, LIMITS), "plan: operation is null"],
  "no limits": [() => plan(reduceMax("f32", [2])), "plan: limits is undefined, the limits of a device expected"],
  "a limit missing": [() => plan(reduceMax("f32", [2]), { ...LIMITS, max_groups: undefined }), "plan: limits.max_groups is undefined, an integer"],
  "a limit misspelt": [() => plan(reduceMax("f32", [2]), { ...LIMITS, maxGroups: 1 }), "plan: limits.maxGroups is unknown, there are adapter"],
  "a limit as text": [() => plan(reduceMax("f32", [2]), { ...LIMITS, max_groups: "65535" }), 'limits.max_groups is "65535"'],
  "a limit infinite": [() => plan(reduceMax("f32", [2]), { ...LIMITS, max_binding_bytes: Infinity }), "limits.max_binding_bytes is Infinity"],
  "another adapter": [() => plan(reduceMax("f32", [2]), { ...LIMITS, adapter: "npu" }), 'limits.adapter is "npu", one of "hardware", "lavapipe", "swiftshader"'],
  "the limits of no device": [() => limitsOf(null), "limitsOf: device is null, a GPUDevice expected"],
  "the limits of limits": [() => limitsOf(LIMITS), "limitsOf: device is { adapter"],
  "kernels of no device": [() => Kernels.create(), "Kernels: device is undefined, a GPUDevice expected"],
  "kernels of an adapter": [() => Kernels.create({ requestDevice() {} }), "Kernels: device is { requestDevice }"],
  "a device with options": [() => requestDevice({ requestAdapter: async () => null }, { powerPreference: "low-power" }), "requestDevice: 2 arguments given, at most 1 expected"],
  "a device of nothing": [() => requestDevice(null), "requestDevice: gpu is null, a GPU, such as navigator.gpu, expected"],
  "a device of something else": [() => requestDevice({}), "requestDevice: gpu is {  }"],
  "a device of a host without adapters": [() => requestDevice({ requestAdapter: async () => null }), "WebGPU finds no adapter"],
  "a tensor of no type": [() => tensor("f33", [2], new ArrayBuffer(8)), "tensor: dtype"],
  "a tensor of no shape": [() => tensor("f32", 2, new ArrayBuffer(8)), "tensor: shape is 2, a list of sizes"],
  "a tensor of an array": [() => tensor("f32", [2], ROW), "tensor: buffer is a Float32Array of 6, an ArrayBuffer expected"],
  "a tensor of too few bytes": [() => tensor("f32", [2], new ArrayBuffer(7)), "tensor: buffer has 7 bytes, 8 are needed"],
  "too few inputs": [() => reference(reduceMax("f32", [6]), []), "reference: 0 inputs given, 1 expected"],
  "inputs that are no list": [() => reference(reduceMax("f32", [6]), ROW.buffer), "reference: inputs is an ArrayBuffer, a list of typed arrays expected"],
  "an array in place of inputs": [() => reference(reduceMax("f32", [6]), ROW), "reference: 6 inputs given, 1 expected"],
  "no array as input": [() => reference(reduceMax("f32", [6]), [null]), "reference: inputs[0] is null, for f32 a Float32Array or a Uint8Array expected"],
  "a list as input": [() => reference(reduceMax("f32", [6]), [[...ROW]]), "reference: inputs[0] is a list of 6"],
  "float64 for f32": [() => reference(reduceMax("f32", [6]), [Float64Array.from(ROW)]), "reference: inputs[0] is a Float64Array of 6, for f32 a Float32Array or a Uint8Array"],
  "u32 for i32": [() => reference(reduceMax("i32", [6]), [new Uint32Array(6)]), "inputs[0] is a Uint32Array of 6, for i32 an Int32Array or a Uint8Array"],
  "bytes of bool above 1": [() => reference(reduceMax("bool", [2]), [Uint8Array.of(0, 255)]), "reference: inputs[0][1] is 255, 0 or 1 expected for bool"],
  "an element too few": [() => reference(reduceMax("u8", [6]), [new Uint8Array(5)]), "reference: inputs[0] has 5 bytes, 6 are needed"],
  "an element too few of a view": [() => reference(reduceMax("u8", { shape: [2, 2], strides: [3, 2] }), [new Uint8Array(5)]), "has 5 bytes, 6 are needed"],
  "an element too few of a buffer's other view": [() => reference(BEYOND, [VALUES.slice(1), EMPTY]), "reference: inputs[0] has 28 bytes, 32 are needed"],
  "a view of a buffer, and no buffer": [() => reference(BEYOND, [EMPTY, VALUES]), "reference: inputs[0] has 0 bytes, 32 are needed"],
  "a view of an input that there is not": [() => reference(max("i32", [[4]], { viewsOf: [[0, 7]] }), [VALUES]), "input 0 cannot be a view of input 7"],
  "twice the elements": [() => reference(reduceMax("f32", [6]), [new Float32Array(12)]), "reference: inputs[0] has 48 bytes, 24 expected for shape [6]"],
  ...(holds(2 ** 31) && {
    "an input of gigabytes": [() => reference(reduceMax("u8", [2 ** 31]), [new Uint8Array(2 ** 31)]), "an input of 2147483648 bytes is too large for the reference"],
  }),
  "an array whose buffer is gone": [() => { const gone = new Float32Array(6); structuredClone(gone, { transfer: [gone.buffer] }); return reference(reduceMax("f32", [6]), [gone]); }, "reference: inputs[0] has 0 bytes, 24 are needed"],
};

/** What is right, however odd: the answer's data. */
const right = {
  "a number as constant": [() => reference(max("f32", [[2, 3]], { constant: 4 }), [ROW]), Float32Array.of(4, 7, 4, 4, 5, 6)],
  "-0 as constant": [() => reference(max("f32", [[1]], { constant: -0 }), [Float32Array.of(-1)]), Float32Array.of(-0)],
  "NaN as constant": [() => reference(max("f64", [[1]], { constant: NaN }), [Float64Array.of(1)]), Float64Array.of(NaN)],
  "a half as constant": [() => reference(max("f16", [[1]], { constant: 0.1 }), [Uint16Array.of(0)]), Uint16Array.of(0x2e66)],
  "a bigint as constant": [() => reference(max("u64", [[1]], { constant: 2n ** 64n - 1n }), [BigUint64Array.of(1n)]), BigUint64Array.of(2n ** 64n - 1n)],
  "true as constant": [() => reference(max("bool", [[2]], { constant: true }), [Uint8Array.of(0, 1)]), Uint8Array.of(1, 1)],
  "options undefined": [() => reference(reduceMax("f32", [6], { axes: undefined }), [ROW]), Float32Array.of(7)],
  "options without a prototype": [() => reference(reduceMax("f32", [2, 3], Object.assign(Object.create(null), { axes: [1] })), [ROW]), Float32Array.of(7, 6)],
  "a shape in a typed array": [() => reference(reduceMax("f32", Uint32Array.of(2, 3), { axes: Int8Array.of(-1) }), [ROW]), Float32Array.of(7, 6)],
  "as many dimensions as tensors have": [() => reference(reduceMax("f32", [...Array(63).fill(1), 6]), [ROW]), Float32Array.of(7)],
  "shared memory": [() => reference(reduceMax("f32", [6]), [new Float32Array(sharedBuffer(24)).fill(3)]), Float32Array.of(3)],
  "a part of a buffer": [() => reference(reduceMax("f32", [3]), [ROW.subarray(2, 5)]), Float32Array.of(5)],
  "bytes of any type": [() => reference(reduceMax("f32", [6]), [new Uint8Array(ROW.buffer)]), Float32Array.of(7)],
  "bytes with padding": [() => reference(reduceMax("u16", [3]), [Uint8Array.of(1, 0, 2, 0, 3, 0, 9, 9)]), Uint16Array.of(3)],
  "more than a view needs": [() => reference(reduceMax("f32", { shape: [2], strides: [2] }), [ROW]), Float32Array.of(3)],
  "a getter, asked once": [() => { let asked = 0; return reference(reduceMax("f32", [2, 3], { get axes() { return asked++ ? "wrong" : [1]; } }), [ROW]); }, Float32Array.of(7, 6)],
  "a shape changed afterwards": [() => { const shape = [6]; const own = reduceMax("f32", shape); shape[0] = 2; return reference(own, [ROW]); }, Float32Array.of(7)],
  "a view beyond what its buffer's own view spans": [() => reference(BEYOND, [VALUES, EMPTY]), Int32Array.of(8, 2, 7, 9)],
  "what is given as a view of another, not looked at": [() => reference(BEYOND, [VALUES, VALUES]), Int32Array.of(8, 2, 7, 9)],
  "views of a buffer that is longer than they are": [() => reference(max("i32", [[2], { shape: [2], strides: [-1], offset: 3 }], { viewsOf: [[0, 1]] }), [EMPTY, VALUES]), Int32Array.of(4, 7)],
  "a clamped array": [() => reference(reduceMax("u8", [3]), [Uint8ClampedArray.of(1, 300, 2)]), Uint8Array.of(255)],
};

/** Every half as a constant, and what is rounded to it. */
function halves() {
  const value = (bits, fraction, least) => {
    const exponent = (bits & 0x7fff) >> fraction;
    const digits = bits & ((1 << fraction) - 1);
    return (bits >> 15 ? -1 : 1) * (exponent ? (1 + digits / 2 ** fraction) * 2 ** (exponent - 1 + least) : (digits / 2 ** fraction) * 2 ** least);
  };
  const of = (dtype, constant) => reference(max(dtype, [[1]], { constant, nan: "ignore" }), [Uint16Array.of(dtype === "f16" ? 0xfc00 : 0xff80)])[0].data[0];
  for (const [dtype, fraction, least, infinity] of [["f16", 10, -14, 0x7c00], ["bf16", 7, -126, 0x7f80]]) {
    for (let bits = 0; bits < 0x10000; bits += 1 + (bits & 0x3ff ? 6 : 0)) {
      if ((bits & 0x7fff) >= infinity) continue;
      const own = value(bits, fraction, least);
      same(of(dtype, own), bits, `${own} as ${dtype}`);
      if ((bits & 0x7fff) + 1 === infinity) continue;
      const next = value(bits + 1, fraction, least);
      same(of(dtype, (own + next) / 2), bits & 1 ? bits + 1 : bits, `between ${own} and ${next} as ${dtype}`);
      same(of(dtype, own + (next - own) * 0.500001), bits + 1, `a bit above the middle of ${own} and ${next} as ${dtype}`);
    }
    same(of(dtype, Infinity), infinity, `infinity as ${dtype}`);
  }
}

/** The tests that need no device. */
export async function misuseTests() {
  const tests = { halves };
  for (const [name, [run, message]] of Object.entries(planning)) tests[name] = () => refuses(run, message);
  for (const [name, [run, data]] of Object.entries(right)) tests[name] = () => same(run()[0].data, data, "answer");
  return outcome(tests);
}

/** What takes a device: Dawn's in node, Chromium's on a page. Another of its adapter is made, and lost. */
export async function misuseOnDevice(device, other) {
  const { STORAGE, COPY_SRC, COPY_DST } = { STORAGE: 0x80, COPY_SRC: 0x4, COPY_DST: 0x8 };
  const buffer = (size, usage = STORAGE | COPY_SRC | COPY_DST) => device.createBuffer({ size, usage });
  const kernels = await Kernels.create(device);
  const row = reduceMax("f32", [6]);
  const prepared = await kernels.prepare(row);
  const good = { inputs: [buffer(24)], outputs: [buffer(4)] };
  const bind = (slots) => () => prepared.bind({ ...good, ...slots });
  const bound = prepared.bind(good);
  const changed = (change) => () => {
    const own = structuredClone(kernels.plan(row));
    change(own);
    return kernels.prepare(own);
  };
  const calls = {
    "float64 for f32": [() => kernels.run(row, [Float64Array.from(ROW)]), "run: inputs[0] is a Float64Array of 6, for f32 a Float32Array"],
    "no inputs": [() => kernels.run(row), "run: inputs is undefined, a list of typed arrays expected"],
    "too few inputs": [() => kernels.run(row, []), "run: 0 inputs given, 1 expected"],
    "too many inputs": [() => kernels.run(row, [ROW, ROW]), "run: 2 inputs given, 1 expected"],
    "too few elements": [() => kernels.run(row, [ROW.slice(1)]), "run: inputs[0] has 20 bytes, 24 are needed"],
    "too many elements": [() => kernels.run(row, [new Float32Array(7)]), "run: inputs[0] has 28 bytes, 24 expected for shape [6]"],
    "a GPUBuffer as input": [() => kernels.run(row, [good.inputs[0]]), "run: inputs[0] is a GPUBuffer, for f32"],
    "nothing to run": [() => kernels.run(undefined, [ROW]), "operation is undefined, what reduceMax"],
    "an output larger than buffers are": [() => kernels.run(max("f32", [{ shape: [2 ** 33], strides: [0] }]), [Float32Array.of(1)]), ""],
    "limits of text": [() => Kernels.create(device, "default"), 'Kernels: limits is "default", the limits of a device expected'],
    "a limit too many": [() => Kernels.create(device, { ...kernels.limits, int64: true }), "Kernels: limits.int64 is unknown"],
    "nothing to prepare": [() => kernels.prepare(), "prepare: plan is undefined, an operation or a plan expected"],
    "a text to prepare": [() => kernels.prepare("plan"), 'prepare: plan is "plan"'],
    "a plan of another version": [changed((own) => (own.version = 2)), "prepare: plan.version is 2, 1 expected"],
    "a plan without dispatches": [changed((own) => delete own.dispatches), "prepare: plan.dispatches is undefined, a list of dispatches"],
    "a pass of no shader": [changed((own) => (own.dispatches[0].shader = 7)), "prepare: plan.dispatches[0].shader is 7, less than 1 expected"],
    "a grid of two": [changed((own) => own.dispatches[0].grid.pop()), "prepare: plan.dispatches[0].grid is a list of 2, three numbers"],
    "parameters of no words": [changed((own) => (own.dispatches[0].params = [])), "prepare: plan.dispatches[0].params is a list of 0, a multiple of four words"],
    "a binding of no input": [changed((own) => (own.dispatches[0].bindings[0].index = 1)), "prepare: plan.dispatches[0].bindings[0].index is 1, less than 1"],
    "a binding beyond": [changed((own) => (own.dispatches[0].bindings[0].offset_bytes = 256)), "prepare: plan.dispatches[0].bindings[0] ends at byte 280, input 0 has 24"],
    "a binding of no slot": [changed((own) => (own.dispatches[0].bindings[0].slot = "arena")), 'bindings[0].slot is "arena", one of "input", "output", "scratch", "embedded"'],
    "a binding's number twice": [changed((own) => (own.dispatches[0].bindings[1].binding = own.dispatches[0].bindings[0].binding)), "the GPU refused: "],
    "no slots": [() => prepared.bind(), "bind: slots is undefined, { inputs, outputs, scratch } expected"],
    "a buffer in place of slots": [() => prepared.bind(good.inputs[0]), "bind: slots is a GPUBuffer"],
    "a slot misspelt": [bind({ input: [] }), "bind: slots.input is unknown, there are inputs, outputs, scratch"],
    "a buffer in place of a list": [bind({ inputs: good.inputs[0] }), "bind: slots.inputs is a GPUBuffer, a list of buffers expected"],
    "no buffer": [bind({ inputs: [null] }), "bind: slots.inputs[0] is null, a GPUBuffer or { buffer, offset, size } expected"],
    "a typed array as buffer": [bind({ inputs: [ROW] }), "bind: slots.inputs[0] is a Float32Array of 6"],
    "a part of no buffer": [bind({ inputs: [{ offset: 0 }] }), "bind: slots.inputs[0].buffer is undefined, a GPUBuffer expected"],
    "a part misspelt": [bind({ inputs: [{ buffer: good.inputs[0], bytes: 24 }] }), "bind: slots.inputs[0].bytes is unknown, there are buffer, offset, size"],
    "a part before the buffer": [bind({ inputs: [{ buffer: good.inputs[0], offset: -256 }] }), "bind: slots.inputs[0].offset is -256"],
    "a part of half a byte": [bind({ inputs: [{ buffer: good.inputs[0], size: 23.5 }] }), "bind: slots.inputs[0].size is 23.5"],
    "a part beyond the buffer": [bind({ inputs: [{ buffer: good.inputs[0], size: 28 }] }), "bind: slots.inputs[0] ends at byte 28 of its buffer, which has 24"],
    "an offset beyond the buffer": [bind({ inputs: [{ buffer: good.inputs[0], offset: 256 }] }), "bind: slots.inputs[0] ends at byte 256 of its buffer, which has 24"],
    "a part too small": [bind({ inputs: [{ buffer: good.inputs[0], size: 20 }] }), "bind: ReduceMax f32 [6] over [0]: input 0 has 20 bytes, 24 are needed"],
    "a buffer without STORAGE": [bind({ outputs: [buffer(4, COPY_SRC)] }), "output 0 is a buffer without the usage STORAGE: it has COPY_SRC"],
    "nothing to record in": [() => bound.record(), "record: target is undefined, a GPUCommandEncoder or a GPUComputePassEncoder expected"],
    "a text to record in": [() => bound.record("encoder"), 'record: target is "encoder"'],
    "a device to record in": [() => bound.record(device), "record: target is a GPUDevice"],
  };
  const tests = {};
  for (const [name, [run, message]] of Object.entries(calls)) tests[name] = () => refuses(run, message);
  tests["destroyed, and used all the same"] = async () => {
    const own = await kernels.prepare(row);
    const before = own.bind(good);
    own.destroy();
    own.destroy();
    await refuses(() => own.bind(good), "bind: ReduceMax f32 [6] over [0] was destroyed");
    await refuses(() => before.record(device.createCommandEncoder()), "record: ReduceMax f32 [6] over [0] was destroyed");
  };
  tests["views of one buffer"] = async () => {
    for (const views of [EMPTY, VALUES, new Int32Array(1)]) {
      same((await kernels.run(BEYOND, [VALUES, views]))[0].data, Int32Array.of(8, 2, 7, 9), `given ${views}`);
    }
    await refuses(() => kernels.run(BEYOND, [EMPTY, VALUES]), "run: inputs[0] has 0 bytes, 32 are needed");
  };
  tests["an input changed while it runs"] = async () => {
    const input = ROW.slice();
    const answer = kernels.run(row, [input]);
    input.fill(9);
    same((await answer)[0].data, Float32Array.of(7), "answer");
  };
  tests["a plan that calls another shader by a known key"] = async () => {
    const own = await Kernels.create(device);
    const other = own.plan(reduceMax("f32", [6], { nan: "ignore" }));
    const [{ key }] = own.plan(row).shaders;
    await own.prepare({ ...other, shaders: [{ ...other.shaders[0], key }] });
    same((await own.run(row, [Float32Array.of(1, NaN, 3, 4, 5, 6)]))[0].data, Float32Array.of(NaN), "answer");
  };
  tests["shared memory, and a part of a buffer"] = async () => {
    const shared = new Float32Array(sharedBuffer(32), 4, 6);
    shared.set(ROW);
    same((await kernels.run(row, [shared]))[0].data, Float32Array.of(7), "answer");
    same((await kernels.run(reduceMax("f32", [3]), [ROW.subarray(2, 5)]))[0].data, Float32Array.of(5), "answer");
  };
  tests["constants of numbers"] = async () => {
    for (const [dtype, constant, input] of [["f16", 0.1, Uint16Array.of(0)], ["bf16", -2, Uint16Array.of(0xff80)], ["i64", -5n, BigInt64Array.of(-9n)]]) {
      const own = max(dtype, [[1]], { constant });
      same((await kernels.run(own, [input]))[0].data, reference(own, [input])[0].data, dtype);
    }
  };
  // WebGPU does not say at once that a buffer is destroyed or another device's: it does so in the device's error scopes.
  tests["what only WebGPU knows is said with the operation's name"] = async () => {
    const said = async (inputs) => {
      device.pushErrorScope("validation");
      const encoder = device.createCommandEncoder();
      prepared.bind({ ...good, inputs }).record(encoder);
      device.queue.submit([encoder.finish()]);
      const error = await device.popErrorScope();
      if (!error) throw new Error("nothing was said");
    };
    const destroyed = buffer(24);
    destroyed.destroy();
    await said([destroyed]);
    await said([other.createBuffer({ size: 24, usage: STORAGE })]);
  };
  tests["a device that is lost"] = async () => {
    const lost = await Kernels.create(other);
    const before = await lost.prepare(row);
    other.destroy();
    await refuses(() => lost.run(reduceMax("f32", [5]), [new Float32Array(5)]), "");
    await other.lost;
    await refuses(() => lost.run(row, [ROW]), "the device is lost: ");
    await refuses(() => lost.prepare(row), "the device is lost: ");
    before.destroy();
  };
  return outcome(tests);
}

function same(given, expected, what) {
  const bytes = ({ buffer, byteOffset, byteLength }) => [...new Uint8Array(buffer, byteOffset, byteLength)];
  const equal = expected instanceof Object
    ? given.constructor === expected.constructor && String(bytes(given)) === String(bytes(expected))
    : Object.is(given, expected);
  if (!equal) throw new Error(`${what}: got ${given}, expected ${expected}`);
}

export async function outcome(tests) {
  const begin = performance.now();
  const complaints = [];
  for (const [name, run] of Object.entries(tests)) {
    await (async () => run())().catch((error) => complaints.push(`${name}: ${error.message}`));
  }
  const count = Object.keys(tests).length;
  return { equal: count - complaints.length, count, complaints, seconds: (performance.now() - begin) / 1000 };
}
