/** The same for node, whose `fetch` reads no files. */
import { readFile } from "node:fs/promises";
import "./node.js";
import { loadReference } from "./reference.js";

await loadReference(readFile(new URL("./wasm/reference_bg.wasm", import.meta.url)));

export * from "./reference.js";
