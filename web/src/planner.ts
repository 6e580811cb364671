import init, * as wasm from "./wasm/planner.js";
import { encodedLimits, encodedOperation } from "./encoded.js";
import type { DType, Operation } from "./operation.js";
import type { Limits, Plan } from "./plan.js";

/** Where a module comes from: its address, its bytes, a response, a compiled module. */
export type Source = URL | string | BufferSource | WebAssembly.Module | Response | Promise<BufferSource | Response>;

let loaded: Promise<unknown> | undefined;
let ready = false;

/** Loads the planner, once; without a source from the file beside this one. */
export async function load(
  source: Source = new URL("./wasm/planner_bg.wasm", import.meta.url),
): Promise<void> {
  loaded ??= init({ module_or_path: source });
  await loaded.catch((error: unknown) => {
    loaded = undefined; // another try may do better
    throw error;
  });
  ready = true;
}

/** What an operation reads and writes. */
export interface Signature {
  inputs: { dtype: DType; bytes: number }[];
  outputs: { dtype: DType; shape: number[] }[];
}

/** The plan of an operation for a device's limits. The same operation and limits give the same plan. */
export function plan(operation: Operation, limits: Limits): Plan {
  return JSON.parse(planner().plan(encodedOperation(operation), encodedLimits(limits)));
}

/** The types of an operation's inputs and outputs, and the bytes that its inputs' views lie in. */
export function signature(operation: Operation): Signature {
  return JSON.parse(planner().signature(encodedOperation(operation)));
}

function planner(): typeof wasm {
  if (!ready) throw new Error("the planner is not loaded: await load() or Kernels.create(device) first");
  return wasm;
}
