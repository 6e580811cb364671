/** ReduceMax, ArgMax, Hardmax and Max for engines that own a `GPUDevice`. */
export type { CalibrateOptions, Calibration, Platform } from "./calibration.js";
export { requestDevice } from "./device.js";
export { tensor, type DType, type Tensor, type TypedArray } from "./elements.js";
export { Kernels } from "./kernels.js";
export type { Source } from "./module.js";
export {
  argMax, hardmax, max, reduceMax,
  type ArgMaxOptions, type Constant, type HardmaxOptions, type Input, type MaxOptions, type NanPolicy, type Operation,
  type ReduceMaxOptions, type Slices, type View,
} from "./operation.js";
export { limitsOf, type Binding, type Limits, type Dispatch, type Plan, type Shader, type Tuning } from "./plan.js";
export { load, plan, signature, type Signature } from "./planner.js";
export type { Bound, Prepared } from "./prepared.js";
export type { Slots } from "./slots.js";
