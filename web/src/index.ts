/** ReduceMax, ArgMax, Hardmax and Max for engines that own a `GPUDevice`. */
export { Bound, Kernels, Prepared } from "./kernels.js";
export * from "./operation.js";
export * from "./plan.js";
export { load, plan, signature, type Signature, type Source } from "./planner.js";
export type { Slots } from "./slots.js";
