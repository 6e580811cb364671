/** The same for node, whose `fetch` reads no files. */
import { readFile } from "node:fs/promises";
import { load } from "./index.js";

await load(readFile(new URL("./wasm/planner_bg.wasm", import.meta.url)));

export * from "./index.js";
