// The npm package on Dawn in node, and what Dawn says about every shader.
import { readFile } from "node:fs/promises";
import { create } from "webgpu";
import * as module from "./dist/cases.js";
import { progress, report } from "./report.js";
import { packageRoute, shaderRoute } from "./routes.js";

await module.default({ module_or_path: await readFile(new URL("./dist/cases_bg.wasm", import.meta.url)) });
const gpu = (globalThis.dawn = create([])); // it must stay: with it Dawn ends
const adapter = await gpu.requestAdapter();
if (!adapter) throw new Error("Dawn finds no adapter");
const device = await adapter.requestDevice();
console.error(`Dawn on ${adapter.info.description}`);

report("shaders on Dawn", await shaderRoute(device, JSON.parse(module.shaders()), progress("shaders")), "without any message");
report("npm package on Dawn", await packageRoute(device, new module.Cases(), progress("cases")));
device.destroy();
process.exit(); // Dawn's threads would keep node waiting
