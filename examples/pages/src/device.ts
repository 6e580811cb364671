/** There is no WebGPU, or it gives no device: `halt` has advice for that. */
export class NoWebGPU extends Error {}

/** The device, or in plain words why there is none. The page halts if it is lost, or refuses what nobody asked about. */
export async function openDevice(): Promise<{ adapter: GPUAdapter; device: GPUDevice }> {
  if (!isSecureContext) throw new NoWebGPU("This page came over plain http from another computer; browsers then hide WebGPU.");
  if (!navigator.gpu) throw new NoWebGPU("This browser does not offer WebGPU, or it is switched off.");
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new NoWebGPU("This browser knows WebGPU, but finds no graphics adapter that it will use.");
  const device = await adapter.requestDevice();
  device.lost.then(({ message }) => stop(new Error(`The graphics device was lost: ${message || "its driver gave up"}. Reload the page to try again.`)));
  device.addEventListener("uncapturederror", ({ error }) => stop(new Error(`The graphics device refused: ${error.message}`)));
  return { adapter, device };
}

/** Ends the page with what went wrong. */
export function stop(error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  if (error instanceof NoWebGPU) halt(why);
  else halt(why, "This page cannot go on", []);
}

/** The adapter as its browser names it. */
export function adapterName({ info }: GPUAdapter): string {
  const { vendor, architecture, description, isFallbackAdapter } = info;
  const named = [description || [vendor, architecture].filter(Boolean).join(" "), isFallbackAdapter && "(software)"];
  return named.filter(Boolean).join(" ") || "not named by this browser";
}
