import { hasMethods, refuse } from "./check.js";

/** A device of the host's WebGPU with default limits; where there is none, an error that says what is missing. */
export async function requestDevice(gpu: GPU | undefined = globalThis.navigator?.gpu): Promise<GPUDevice> {
  if (arguments.length > 1) {
    throw new Error(`requestDevice: ${arguments.length} arguments given, at most 1 expected: with options, make a device yourself`);
  }
  if (gpu === undefined) {
    throw new Error("no WebGPU here, navigator.gpu is undefined: browsers give it to secure pages (https or localhost); in node, give what create([]) of the npm package webgpu returns");
  }
  if (!hasMethods(gpu, "requestAdapter")) refuse("requestDevice: gpu", gpu, "a GPU, such as navigator.gpu,");
  const adapter = await refusing(gpu.requestAdapter());
  if (!adapter) throw new Error("WebGPU finds no adapter: this machine has no GPU, or no driver for it that this process may use");
  return refusing(adapter.requestDevice());
}

/** What WebGPU promised; if it does not keep that, an error of this package. */
export async function refusing<T>(promised: Promise<T>): Promise<T> {
  try {
    return await promised;
  } catch (cause) {
    throw refused(cause);
  }
}

/** What WebGPU says is wrong, in an error of this package. */
export function refused(cause: unknown): Error {
  return new Error(`the GPU refused: ${(cause as Partial<Error> | undefined)?.message ?? cause}`, { cause });
}

/**
 * Makes GPU objects, or records and submits: what WebGPU finds wrong is thrown. Buffers that `make` puts into its list are then
 * destroyed.
 */
export async function catching<T>(device: GPUDevice, make: (made: GPUBuffer[]) => T): Promise<T> {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  const buffers: GPUBuffer[] = [];
  let made: T | undefined;
  let thrown: unknown;
  try {
    made = make(buffers);
  } catch (error) {
    thrown = error;
  }
  const popped = Promise.all([device.popErrorScope(), device.popErrorScope()]);
  const errors = await popped.catch((error: unknown) => [error]); // of a device that is lost
  const error = thrown ?? errors.find((error) => error);
  if (!error) return made as T;
  buffers.forEach((own) => own.destroy());
  throw refused(error);
}

export function checkedDevice(given: unknown, name: string): GPUDevice {
  const device = given as GPUDevice;
  const isDevice = hasMethods(given, "createBuffer", "createBindGroup", "pushErrorScope") && hasMethods(device.lost, "then");
  return isDevice && typeof device.limits === "object" ? device : refuse(name, given, "a GPUDevice");
}
