/** The CPU reference's answers, from a module of its own: for checks, written to be right and not to be fast. */
import init, { reference as answer } from "./wasm/reference.js";
import { bytesOf, tensor, type Operation, type Tensor } from "./operation.js";
import { signature, type Source } from "./planner.js";

let loaded: Promise<unknown> | undefined;

/** Loads the reference, once; without a source from the file beside this one. The planner is to be loaded too. */
export async function loadReference(
  source: Source = new URL("./wasm/reference_bg.wasm", import.meta.url),
): Promise<void> {
  await (loaded ??= init({ module_or_path: source }));
}

/** The answer from the operation's definition. Inputs are the tensors that its views lie in. */
export function reference(operation: Operation, inputs: ArrayBufferView[]): Tensor[] {
  const outputs = answer(JSON.stringify(operation), inputs.map(bytesOf)) as Uint8Array<ArrayBuffer>[];
  return signature(operation).outputs.map(({ dtype, shape }, n) => tensor(dtype, shape, outputs[n]!.buffer));
}
