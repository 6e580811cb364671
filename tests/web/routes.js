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

/** So many cases after each that is run in one buffer: what that changes is the same for all types and shapes. */
const ARENA_STEP = 17;

/** Cases of which inputs, outputs and scratch lie in one buffer, in random places. */
export async function arenaRoute(device, cases, progress = () => {}) {
  const limits = { ...limitsOf(device), shared_buffers: true };
  const kernels = {};
  for (const adapter of ["hardware", "swiftshader"]) kernels[adapter] = await Kernels.create(device, { ...limits, adapter });
  return each(Math.ceil(cases.count / ARENA_STEP), progress, async (n) => {
    const { name, operation, adapter, inputs, expected } = cases.get(n * ARENA_STEP);
    const prepared = await kernels[adapter].prepare(built(JSON.parse(operation)));
    const outputs = await runInArena(device, prepared, inputs, limits.binding_alignment_bytes, n);
    prepared.destroy();
    const difference = firstDifference(expected, outputs.map((data, k) => ({ data: data.subarray(0, expected[k].length) })));
    return difference && `${name}, in one buffer: ${difference}`;
  });
}

/** The outputs' bytes; everything around what is written has to stay as it was. */
async function runInArena(device, prepared, inputs, alignment, seed) {
  const { input_bytes, output_bytes, scratch_bytes, in_place } = prepared.plan;
  const slots = [...input_bytes, ...output_bytes, ...scratch_bytes].map((bytes, n) => {
    const size = Math.ceil(Math.max(bytes, inputs[n]?.byteLength ?? 0, 4) / 16) * 16;
    return { n, size, written: n >= input_bytes.length, key: Math.imul(n + 1, 0x9e3779b1 + seed) >>> 0 };
  });
  let size = 0;
  for (const slot of [...slots].sort((a, b) => a.key - b.key)) {
    slot.offset = Math.ceil(size / alignment) * alignment;
    size = slot.offset + slot.size;
  }
  const before = new Uint8Array(size).fill(0xff);
  for (const { n, offset } of slots.slice(0, inputs.length)) {
    const { buffer, byteOffset, byteLength } = inputs[n];
    before.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
  }
  const own = input_bytes.length;
  if (in_place !== null) before.set(before.slice(slots[in_place].offset, slots[in_place].offset + slots[in_place].size), slots[own].offset);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const arena = device.createBuffer({ size, usage });
  const read = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(arena, 0, before);
  const parts = slots.map(({ offset, size }) => ({ buffer: arena, offset, size }));
  const encoder = device.createCommandEncoder();
  const [given, made] = [parts.slice(0, own), parts.slice(own, own + output_bytes.length)];
  prepared.bind({ inputs: given, outputs: made, scratch: parts.slice(own + output_bytes.length) }).record(encoder);
  encoder.copyBufferToBuffer(arena, 0, read, 0, size);
  device.queue.submit([encoder.finish()]);
  await read.mapAsync(GPUMapMode.READ);
  const after = new Uint8Array(read.getMappedRange().slice(0));
  [arena, read].forEach((buffer) => buffer.destroy());
  const outputs = made.map(({ offset, size }) => after.slice(offset, offset + size));
  for (const { offset, size } of slots.filter((slot) => slot.written)) {
    [before, after].forEach((bytes) => bytes.fill(0, offset, offset + size));
  }
  const changed = after.findIndex((byte, at) => byte !== before[at]);
  if (changed >= 0) throw new Error(`byte ${changed} of the buffer was changed, which no output or scratch has`);
  return outputs;
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
  const [[name, { dtype, input, inputs, axes, keep_dims, nan, empty, select_last, index, output, slices, constant, in_place, views_of }]] =
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
      return max(dtype, inputs, { nan, inPlace: in_place ?? undefined, viewsOf: views_of, constant: operand ?? undefined });
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
