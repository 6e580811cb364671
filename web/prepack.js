// Before `npm pack`: the package is what web/build.sh has built of these sources, or there is none.
import { copyFileSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";

const root = import.meta.dirname;
const time = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs;
const sources = readdirSync(join(root, "src")).map((file) => [`src/${file}`, `dist/${basename(file, ".ts")}`]);
const built = [
  ...sources.flatMap(([source, own]) => [[source, `${own}.js`], [source, `${own}.d.ts`]]),
  ...["planner", "reference"].flatMap((name) => [`${name}.js`, `${name}.d.ts`, `${name}_bg.wasm`].map((file) => [`${name}/src/lib.rs`, `dist/wasm/${file}`])),
];
for (const [source, own] of built) {
  const why = time(own) === undefined ? "is missing" : time(own) < time(source) ? `is older than ${source}` : undefined;
  if (why === undefined) continue;
  console.error(`wgmax: web/${own} ${why}. Build the package first: web/build.sh`);
  process.exit(1);
}
for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, "..", licence), join(root, licence));
