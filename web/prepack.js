// Before `npm pack`: the package is what web/build.sh has built of these sources, or there is none.
import { copyFileSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "..");
const time = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs;

/** The files of a folder and of those in it; none where it is not there. */
function filesOf(folder) {
  if (time(folder) === undefined) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((own) => own.isFile())
    .map((own) => join(own.parentPath, own.name).slice(root.length + 1));
}

const crate = [...filesOf("src"), ...filesOf("shaders")];
const built = filesOf("web/src").flatMap((source) => {
  const own = `web/dist/${basename(source, ".ts")}`;
  return [{ own: `${own}.js`, sources: [source] }, { own: `${own}.d.ts`, sources: [source] }];
});
for (const name of ["planner", "reference"]) {
  const sources = [...crate, ...filesOf(`web/${name}/src`)];
  for (const file of [`${name}.js`, `${name}.d.ts`, `${name}_bg.wasm`]) built.push({ own: `web/dist/wasm/${file}`, sources });
}
for (const { own, sources } of built) {
  const older = sources.find((source) => !(time(own) >= time(source)));
  if (older === undefined) continue;
  console.error(`wgmax: ${own} is ${time(own) === undefined ? "missing" : `older than ${older}`}. Build the package first: web/build.sh`);
  process.exit(1);
}
for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, licence), join(root, "web", licence));
