import { Kernels } from "wgmax";
import { loadReference } from "wgmax/reference";
import { element, made } from "./dom.js";
import { Studio } from "./picture.js";
import { Workloads } from "./workloads.js";

/** The device, or in plain words why there is none. */
async function openDevice(): Promise<{ adapter: GPUAdapter; device: GPUDevice }> {
  if (!isSecureContext) throw new Error("This page came over plain http from another computer; browsers then hide WebGPU.");
  if (!navigator.gpu) throw new Error("This browser does not offer WebGPU, or it is switched off.");
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Error("This browser knows WebGPU, but finds no graphics adapter that it will use.");
  return { adapter, device: await adapter.requestDevice() };
}

function describe(adapter: GPUAdapter, kernels: Kernels): void {
  const { vendor, architecture, description, isFallbackAdapter } = adapter.info;
  const named = [description || [vendor, architecture].filter(Boolean).join(" "), isFallbackAdapter && "(software)"];
  const { limits } = kernels;
  const rows: [string, string][] = [
    ["Adapter", named.filter(Boolean).join(" ") || "not named by this browser"],
    ["Planned for", limits.adapter === "hardware" ? "GPU hardware" : "a software adapter on CPU cores"],
    ["One binding", `${limits.max_binding_bytes / 2 ** 20} MiB at most, at multiples of ${limits.binding_alignment_bytes} bytes`],
    ["A workgroup", `${limits.max_group_invocations} invocations, ${limits.max_group_memory_bytes / 1024} KiB of memory at most`],
    ["A dispatch", `${limits.max_groups} workgroups in each dimension, ${limits.max_storage_bindings} storage buffers at most`],
  ];
  element("device").replaceChildren(...rows.flatMap(([term, text]) => [made("dt", "", term), made("dd", "", text)]));
}

function give(problem: string): void {
  element("missing-why").textContent = problem;
  element("missing").hidden = false;
  document.querySelector("main")!.hidden = true;
}

try {
  const { adapter, device } = await openDevice();
  device.lost.then(({ message }) => give(`The graphics device was lost: ${message || "its driver gave up"}. Reload the page to try again.`));
  const [kernels] = await Promise.all([Kernels.create(device), loadReference()]);
  describe(adapter, kernels);
  document.querySelector("main")!.hidden = false;
  const fetched = async (name: string) => {
    const response = await fetch(name);
    if (!response.ok) throw new Error(`${name} is not beside this page (${response.status}): build it with examples/browser/build.sh`);
    return response;
  };
  const studio = new Studio(kernels);
  new Workloads(kernels, await (await fetched("workloads.json")).json());
  await studio.show(await (await fetched("galaxies.jpg")).blob(), "the shipped picture");
} catch (error) {
  give((error as Error).message);
}
