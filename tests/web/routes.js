// The routes that run in JavaScript, in browsers and in node alike: every case of the matrix, or what else there is to run.
import { Kernels, argMax, hardmax, limitsOf, max, reduceMax } from "wgmax";

/** Cases in flight at a time: reading back takes turns of the event loop, not work. */
const IN_FLIGHT = 24;

/** Every case through the npm package. */
export async function packageRoute(device, cases, progress = () => {}) {
  const limits = limitsOf(device);
  const kernels = {};
  for (const adapter of ["hardware", "swiftshader"]) kernels[adapter] = await Kernels.create(device, { ...limits, adapter });
  return each(cases.count, progress, async (n) => {
    const { name, operation, adapter, inputs, expected } = cases.get(n);
    const outputs = await kernels[adapter].run(built(JSON.parse(operation)), inputs);
    const difference = firstDifference(expected, outputs);
    return difference && `${name}: ${difference}`;
  });
}

/** Every case through the crate, compiled to WebAssembly. */
export async function crateRoute(device, progress = () => {}) {
  return each(device.count, progress, (n) => device.check(n));
}

/** Every shader variant: what the implementation has to say about its text. */
export async function shaderRoute(device, shaders, progress = () => {}) {
  return each(shaders.length, progress, async (n) => {
    const { label, wgsl: code } = shaders[n];
    const { messages } = await device.createShaderModule({ label, code }).getCompilationInfo();
    return messages.length > 0 && `${label}: ${messages.map(({ type, message }) => `${type}: ${message}`).join("; ")}`;
  });
}

/** Runs all, some at a time; the number of those with nothing to complain about, and the first complaints. */
async function each(count, progress, run) {
  const begin = performance.now();
  const complaints = [];
  let next = 0, done = 0;
  const worker = async () => {
    while (next < count && complaints.length < 10) {
      const n = next++;
      try {
        const complaint = await run(n);
        if (complaint) complaints.push(complaint);
      } catch (error) {
        complaints.push(`case ${n}: ${error.message}`);
      }
      if (++done % 1000 === 0) progress(done, count);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return { equal: done - complaints.length, count, complaints, seconds: (performance.now() - begin) / 1000 };
}

/** The operation as a caller writes it. */
function built(operation) {
  const [[name, { dtype, input, inputs, axes, keep_dims, nan, empty, select_last, index, output, slices, constant, in_place }]] =
    Object.entries(operation);
  const options = { nan, axes: axes ?? undefined, keepDims: keep_dims };
  switch (name) {
    case "ReduceMax":
      return reduceMax(dtype, input, { ...options, empty });
    case "ArgMax":
      return argMax(dtype, input, { ...options, selectLast: select_last, index, output });
    case "Hardmax":
      return hardmax(dtype, input, slices, { nan });
    case "Max": {
      const operand = constant && { shape: constant.shape, data: Uint8Array.from(constant.bytes) };
      return max(dtype, inputs, { nan, inPlace: in_place ?? undefined, constant: operand ?? undefined });
    }
  }
}

/** Where outputs differ from the bytes expected first, if they do. */
export function firstDifference(expected, outputs) {
  if (outputs.length !== expected.length) return `${outputs.length} outputs, ${expected.length} expected`;
  for (const [n, { data }] of outputs.entries()) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.length !== expected[n].length) return `output ${n} has ${bytes.length} bytes, ${expected[n].length} expected`;
    const at = bytes.findIndex((byte, i) => byte !== expected[n][i]);
    if (at >= 0) return `output ${n}, byte ${at}: got ${bytes[at]}, expected ${expected[n][at]}`;
  }
}
