import init, * as wasm from "./wasm/planner.js";
import type { DType } from "./elements.js";
import { encoded } from "./encoded.js";
import { Loaded, type Source } from "./module.js";
import { knownOf, type Operation } from "./operation.js";
import { checkedLimits, limitNumbers, type Limits, type Plan } from "./plan.js";

/** @internal */
export const planner = new Loaded("planner", "await load() or Kernels.create(device)", wasm, ["plan", "signature", "kernels"], init);

/** Loads the planner, once; without a source from the file beside this one. */
export function load(source: Source = new URL("./wasm/planner_bg.wasm", import.meta.url)): Promise<void> {
  return planner.load(source);
}

/** What an operation reads and writes. Counts above 2^53 are rounded to what a number holds. */
export interface Signature {
  inputs: { dtype: DType; elements: number; bytes: number }[];
  outputs: { dtype: DType; shape: number[] }[];
}

/** The plan of an operation for a device's limits. The same operation and limits give the same plan. */
export function plan(operation: Operation, limits: Limits): Plan {
  const { words, constant } = knownOf(operation, "plan: operation");
  const numbers = limitNumbers(checkedLimits(limits, "plan: limits"));
  return JSON.parse(planner.get().plan(words, constant, encoded(numbers).words));
}

/** The types of an operation's inputs and outputs, and the bytes that its inputs' views lie in. */
export function signature(operation: Operation): Signature {
  const { words, constant } = knownOf(operation, "signature: operation");
  return JSON.parse(planner.get().signature(words, constant));
}
