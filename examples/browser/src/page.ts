import { Kernels } from "wgmax";
import { loadReference } from "wgmax/reference";
import { adapterName, openDevice, stop } from "../../pages/src/device.js";
import { element, made } from "../../pages/src/dom.js";
import { fetched } from "../../pages/src/files.js";
import { Studio } from "./picture.js";
import { Workloads } from "./workloads.js";

function describe(adapter: GPUAdapter, kernels: Kernels): void {
  const { limits } = kernels;
  const rows: [string, string][] = [
    ["Adapter", adapterName(adapter)],
    ["Planned for", limits.adapter === "hardware" ? "GPU hardware" : "a software adapter on CPU cores"],
    ["One binding", `${limits.max_binding_bytes / 2 ** 20} MiB at most, at multiples of ${limits.binding_alignment_bytes} bytes`],
    ["A workgroup", `${limits.max_group_invocations} invocations, ${limits.max_group_memory_bytes / 1024} KiB of memory at most`],
    ["A dispatch", `${limits.max_groups} workgroups in each dimension, ${limits.max_storage_bindings} storage buffers at most`],
  ];
  element("device").replaceChildren(...rows.flatMap(([term, text]) => [made("dt", "", term), made("dd", "", text)]));
}

try {
  const { adapter, device } = await openDevice();
  const [kernels] = await Promise.all([Kernels.create(device), loadReference()]);
  describe(adapter, kernels);
  document.querySelector("main")!.hidden = false;
  const studio = new Studio(kernels);
  new Workloads(kernels, JSON.parse(new TextDecoder().decode(await fetched("workloads.json"))));
  await studio.show(new Blob([await fetched("galaxies.jpg")]), "the shipped picture");
} catch (error) {
  stop(error);
}
