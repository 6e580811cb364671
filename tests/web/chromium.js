// The crate and the npm package in headless Chromium.
import { progress, report } from "./report.js";
import { launch } from "./launch.js";
import { serve } from "../../examples/pages/server.js";

const server = await serve(import.meta.dirname);
const browser = await launch();
const page = await browser.newPage();
page.on("pageerror", (error) => {
  console.error(`page: ${error.message}`);
  process.exitCode = 1;
});
await page.exposeFunction("progress", progress("cases"));
for (const [name, route, what] of [
  ["npm package in Chromium, misuse", "misuse", "refused"],
  ["npm package in Chromium, arguments at random", "fuzz", "right or refused"],
  ["wgpu in Chromium", "crate"],
  ["npm package in Chromium, in one buffer", "arena", "placements bit-equal"],
  ["npm package in Chromium", "package"],
]) {
  await page.goto(`${server.address}routes.html`);
  await page.waitForFunction(() => window.routes);
  report(name, await page.evaluate((route) => window.routes[route](window.progress), route), what);
}
await browser.close();
server.close();
