/** The CPU reference's answers, from a module of its own: for checks, written to be right and not to be fast. */
import init, * as wasm from "./wasm/reference.js";
import { tensor, type Tensor } from "./elements.js";
import { Loaded, type Source } from "./module.js";
import { inputBytes, knownOf, type Operation } from "./operation.js";
import { signature } from "./planner.js";

const answers = new Loaded("reference", "await loadReference()", wasm, ["reference"], init);

/** Loads the reference, once; without a source from the file beside this one. The planner is to be loaded too. */
export function loadReference(source: Source = new URL("./wasm/reference_bg.wasm", import.meta.url)): Promise<void> {
  return answers.load(source);
}

/** The answer from the operation's definition. Inputs are the tensors that its views lie in. */
export function reference(operation: Operation, inputs: readonly ArrayBufferView[]): Tensor[] {
  const { words, constant } = knownOf(operation, "reference: operation");
  const { outputs } = signature(operation);
  const answer = answers.get().reference(words, constant, inputBytes(operation, inputs, "reference")) as Uint8Array<ArrayBuffer>[];
  return outputs.map(({ dtype, shape }, n) => tensor(dtype, shape, answer[n]!.buffer));
}
