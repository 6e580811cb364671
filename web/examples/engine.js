// An engine with its own device: an arena of buffers, one encoder, three operators, no read-back but the last.
import { Kernels, argMax, max, reduceMax } from "wgmax";

/** Of each row of logits, clamped from below: the greatest, and the token that has it. There is room for results of 64 rows. */
export async function nextTokens(device, logits, rows, vocabulary) {
  const kernels = await Kernels.create(device);
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const buffer = (size, usage) => device.createBuffer({ size, usage });

  // Once for each shape: plans, pipelines, parameters.
  const shape = [rows, vocabulary];
  const [clamp, greatest, token] = await Promise.all([
    kernels.prepare(max("f32", [shape], { constant: -30 })),
    kernels.prepare(reduceMax("f32", shape, { axes: [-1] })),
    kernels.prepare(argMax("f32", shape, { axes: [-1], index: "u32" })),
  ]);

  // The arena: what one dispatch reads lies in another buffer than what it writes.
  const bytes = 4 * rows * vocabulary;
  const activations = buffer(256 + bytes, STORAGE | COPY_DST); // as if something else lay before them
  const clamped = buffer(bytes, STORAGE);
  const results = buffer(512, STORAGE | COPY_SRC);
  const needed = [clamp, greatest, token].map((own) => own.plan.scratch_bytes);
  const scratch = [0, 1].map((n) => buffer(Math.max(4, ...needed.map((bytes) => bytes[n])), STORAGE)); // for all three

  // Once for each set of buffers: bind groups.
  const bound = [
    clamp.bind({ inputs: [{ buffer: activations, offset: 256 }], outputs: [clamped], scratch }),
    greatest.bind({ inputs: [clamped], outputs: [{ buffer: results, size: 256 }], scratch }),
    token.bind({ inputs: [clamped], outputs: [{ buffer: results, offset: 256 }], scratch }),
  ];

  // Each time: one encoder, one pass, one submission.
  device.queue.writeBuffer(activations, 256, logits);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  bound.forEach((operator) => operator.record(pass));
  pass.end();
  const readBack = buffer(512, COPY_DST | MAP_READ);
  encoder.copyBufferToBuffer(results, 0, readBack, 0, 512);
  device.queue.submit([encoder.finish()]);
  await readBack.mapAsync(GPUMapMode.READ);
  const mapped = readBack.getMappedRange();
  return { values: new Float32Array(mapped, 0, rows).slice(), tokens: new Uint32Array(mapped, 256, rows).slice() };
}
