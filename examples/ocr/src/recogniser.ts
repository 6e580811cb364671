import * as ort from "onnxruntime-web/webgpu";
import type { Line } from "./paper.js";

/** What a recogniser says of a line, in a buffer on the device: a chance for each class at each step. */
export interface Logits {
  buffer: GPUBuffer;
  steps: number;
  classes: number;
  /** Gives the buffer back, when what reads it was submitted. */
  dispose(): void;
}

/** A network in onnxruntime-web, on a device of ours: so its tensors are buffers that our dispatches may read. */
export class Recogniser {
  private constructor(private readonly session: ort.InferenceSession) {}

  static async create(device: GPUDevice, wasm: Uint8Array, model: Uint8Array): Promise<Recogniser> {
    ort.env.wasm.wasmBinary = wasm;
    ort.env.wasm.numThreads = 1; // more of them take headers that not every server sends
    const session = await ort.InferenceSession.create(model, {
      executionProviders: [{ name: "webgpu", device }],
      preferredOutputLocation: "gpu-buffer",
      logSeverityLevel: 3, // errors: that some nodes are better off on the CPU is none
    }).catch((cause: Error) => {
      throw new Error(`The recogniser cannot be loaded: ${cause.message}`, { cause });
    });
    return new Recogniser(session);
  }

  /** Fulfilled when all is submitted: what is submitted afterwards, in the same queue, reads the answer. */
  async read({ pixels, width, height }: Line): Promise<Logits> {
    const [input, output] = [this.session.inputNames[0]!, this.session.outputNames[0]!];
    const answers = await this.session.run({ [input]: new ort.Tensor("float32", pixels, [1, 3, height, width]) });
    const answer = answers[output]!;
    const [, steps, classes] = answer.dims as [number, number, number];
    return { buffer: answer.gpuBuffer as GPUBuffer, steps, classes, dispose: () => answer.dispose() };
  }
}
