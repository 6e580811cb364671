// The npm package on Dawn in node, as installed from its tarball; and what Dawn says about every shader.
import { readFile } from "node:fs/promises";
import { create, globals } from "webgpu";
import * as module from "./dist/cases.js";
import { fuzz } from "./fuzz.js";
import { misuseOnDevice, misuseTests } from "./misuse.js";
import { packageTests } from "./package.js";
import { progress, report } from "./report.js";
import { arenaRoute, packageRoute, shaderRoute } from "./routes.js";

Object.assign(globalThis, globals);
globalThis.dawn = create([]); // it must stay: with it Dawn ends
await module.default({ module_or_path: await readFile(new URL("./dist/cases_bg.wasm", import.meta.url)) });
const adapter = await globalThis.dawn.requestAdapter();
if (!adapter) throw new Error("Dawn finds no adapter");
const device = await adapter.requestDevice();
const another = async () => (await globalThis.dawn.requestAdapter()).requestDevice();
console.error(`Dawn on ${adapter.info.description}`);

report("npm package, its own tests", await packageTests(device, another), "passed");
report("npm package, misuse", await misuseTests(), "refused");
report("npm package, misuse of a device", await misuseOnDevice(device, await another()), "refused");
report("npm package, arguments at random", await fuzz(device), "right or refused");
report("shaders on Dawn", await shaderRoute(device, JSON.parse(module.shaders()), progress("shaders")), "without any message");
report("npm package on Dawn, in one buffer", await arenaRoute(device, new module.Cases(), progress("cases")), "placements bit-equal");
report("npm package on Dawn", await packageRoute(device, new module.Cases(), progress("cases")));
device.destroy();
process.exit(); // Dawn's threads would keep node waiting
