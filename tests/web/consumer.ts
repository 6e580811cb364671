// What an engine in TypeScript writes: its types are checked with the versions that web/README.md names.
import {
  Kernels, argMax, hardmax, limitsOf, load, max, plan, reduceMax, requestDevice, signature, tensor,
  type Operation, type Plan, type Tensor,
} from "wgmax";
import { loadReference, reference } from "wgmax/reference";

await Promise.all([load(), loadReference()]);
const device: GPUDevice = await requestDevice();
const kernels = await Kernels.create(device, limitsOf(device));
const operations: Operation[] = [
  reduceMax("f32", [2, 3], { axes: [-1], keepDims: true, nan: "ignore", empty: "least" }),
  argMax("f16", { shape: [2, 3], strides: [3, 1], offset: 0 }, { index: "u32", output: "values_and_indices", selectLast: true }),
  hardmax("bf16", [2, 3], { along: 1 }),
  max("u64", [[2], [1]], { constant: 5n, inPlace: 0 }),
  max("f32", [[2]], { constant: { shape: [1], data: new Float32Array(1) } }),
];
const [whole] = operations as [Operation];
const [answer]: Tensor[] = await kernels.run(whole, [new Float32Array(6)]);
const prepared = await kernels.prepare(whole);
prepared.bind({ inputs: [], outputs: [] }).record(device.createCommandEncoder());
const own: Plan = plan(whole, kernels.limits);
const view: ArrayBufferView | undefined = answer?.data;
export const all = [own, view, signature(whole).outputs, tensor("f32", [2], new ArrayBuffer(8)), reference(whole, [new Float32Array(6)])];

// @ts-expect-error There is no such option.
reduceMax("f32", [2], { keep_dims: true });
// @ts-expect-error Axes are a list.
argMax("f32", [2], { axes: 1 });
// @ts-expect-error A number has a type.
max("float32", [[2]], { constant: 0 });
