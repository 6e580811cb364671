// The package as its users get it: its tarball in an empty folder, README's own lines, with and without an adapter, before it
// is loaded, and its types.
//
//   node published.js TARBALL
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { outcome } from "./misuse.js";
import { report } from "./report.js";

const tarball = resolve(process.argv[2]);
const own = join(import.meta.dirname, "node_modules");
const web = join(import.meta.dirname, "../../web");
const folder = mkdtempSync(join(tmpdir(), "wgmax-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}');
execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", tarball], { cwd: folder, stdio: "inherit" });
for (const name of ["webgpu", "@webgpu"]) symlinkSync(join(own, name), join(folder, "node_modules", name));

const blocks = [...readFileSync(join(web, "README.md"), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map(([, text]) => text);
const nodes = blocks.find((text) => text.includes('from "webgpu"'));

/** What a program in the folder has to say. */
function says(text, environment = {}) {
  writeFileSync(join(folder, "program.js"), text);
  const { stdout, stderr, status } = spawnSync("node", ["program.js"], {
    cwd: folder, encoding: "utf8", timeout: 120_000, env: { ...process.env, ...environment },
  });
  return { text: stdout + stderr, status };
}

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

/** What a call is refused with, of a package that node has not loaded: a browser's. */
function unloaded(call, message) {
  const { text } = says(`
    import * as wgmax from "./node_modules/wgmax/dist/index.js";
    import { reference, loadReference } from "./node_modules/wgmax/dist/reference.js";
    try {
      await (async () => ${call})();
      console.log("was accepted");
    } catch (error) {
      console.log(error.constructor.name, error.message);
    }
  `);
  expect(text.startsWith("Error ") && text.includes(message), `${call}: ${text}`);
}

/** The consumer's types with this compiler. */
function typed(compiler, types) {
  const options = { noEmit: true, strict: true, module: "nodenext", target: "es2022", lib: ["es2022", "dom"], types };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["consumer.ts"] }));
  writeFileSync(join(folder, "consumer.ts"), readFileSync(join(import.meta.dirname, "consumer.ts")));
  const { stdout, status } = spawnSync("node", [join(own, compiler, "bin/tsc")], { cwd: folder, encoding: "utf8" });
  expect(status === 0, stdout);
}

/** What `npm pack` says in a clone of which nothing can be packed. */
function expectNoPack(clone, message) {
  const { stdout, stderr, status } = spawnSync("npm", ["pack"], { cwd: clone, encoding: "utf8" });
  expect(status !== 0 && (stdout + stderr).includes(message), stdout + stderr);
}

const empty = 'Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)'; // a module of nothing
const tests = {
  "README's lines in node give 7"() {
    const { text, status } = says(nodes);
    expect(status === 0 && text.trim() === "7", text);
  },
  "without an adapter they say so"() {
    const { text, status } = says(nodes, { VK_DRIVER_FILES: "/nonexistent", VK_ICD_FILENAMES: "/nonexistent" });
    expect(status !== 0 && text.includes("Error: WebGPU finds no adapter: this machine has no GPU, or no driver"), text);
  },
  "without WebGPU README's first lines say so"() {
    const { text, status } = says(blocks[0]);
    expect(status !== 0 && text.includes("Error: no WebGPU here, navigator.gpu is undefined"), text);
  },
  "the same lines with a global of Dawn's"() {
    const { text, status } = says(`import { create } from "webgpu"; globalThis.dawn = create([]); Object.defineProperty(globalThis, "navigator", { value: { gpu: dawn } }); ${blocks[0].replace(/^import.*$/m, 'const { Kernels, argMax, reduceMax, requestDevice } = await import("wgmax");')}; console.log(...rows.data, ...at.data); process.exit();`);
    expect(status === 0 && text.trim() === "7 6 1n 2n", text);
  },
  "before it is loaded"() {
    unloaded('wgmax.signature(wgmax.reduceMax("f32", [2]))', "the planner is not loaded: await load() or Kernels.create(device) first");
    unloaded('reference(wgmax.reduceMax("f32", [2]), [new Float32Array(2)])', "the planner is not loaded");
    const bytes = 'load((await import("node:fs")).readFileSync("node_modules/wgmax/dist/wasm/planner_bg.wasm"))';
    unloaded(`wgmax.${bytes}.then(() => reference(wgmax.reduceMax("f32", [2]), [new Float32Array(2)]))`, "the reference is not loaded: await loadReference() first");
  },
  "what is no planner"() {
    for (const source of ["null", "5", "{}", '"nowhere"', "new Uint8Array(8)", "new Response('no', { status: 404 })", "Promise.reject(7)"]) {
      unloaded(`wgmax.load(${source})`, "the planner cannot be loaded from ");
    }
    unloaded(`wgmax.load(${empty})`, "the planner cannot be loaded from a Uint8Array of 8: it has no function plan, signature");
    unloaded(`loadReference(${empty})`, "the reference cannot be loaded from a Uint8Array of 8: it has no function reference");
    const { text } = says(`
      import { readFileSync } from "node:fs";
      import { load, reduceMax, signature } from "./node_modules/wgmax/dist/index.js";
      await load(${empty}).catch(() => {});
      await load(readFileSync("node_modules/wgmax/dist/wasm/planner_bg.wasm"));
      console.log(signature(reduceMax("f32", [2])).inputs[0].bytes);
    `);
    expect(text.trim() === "8", `another try: ${text}`);
  },
  "its types with TypeScript 6.0"() {
    typed("typescript", []);
  },
  "its types with TypeScript 5.7 and @webgpu/types"() {
    typed("typescript-5.7", ["@webgpu/types"]);
  },
  "packing what was built of older sources says what to do"() {
    const clone = join(folder, "older/web");
    mkdirSync(join(folder, "older/src/plan"), { recursive: true });
    execFileSync("cp", ["-r", "--preserve=timestamps", web, clone]);
    writeFileSync(join(folder, "older/src/plan/layout.rs"), "");
    expectNoPack(clone, "planner.js is older than src/plan/layout.rs. Build the package first: web/build.sh");
  },
  "packing a clone that was not built says what to do"() {
    const clone = join(folder, "clone/web");
    mkdirSync(join(folder, "clone"));
    execFileSync("cp", ["-r", web, clone]);
    rmSync(join(clone, "dist"), { recursive: true });
    expectNoPack(clone, ".js is missing. Build the package first: web/build.sh");
  },
};
report("npm package as published", await outcome(tests), "passed");
