// Drives the page as a person would, and reads what it says. `--shots FOLDER` keeps pictures of it.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { serve } from "../../examples/browser/server.js";
import { launch } from "./launch.js";

const root = join(import.meta.dirname, "../..");
const shots = process.argv[process.argv.indexOf("--shots") + 1];
const server = await serve(join(root, "target/browser"));
let passed = 0;
let failed = 0;

/** One thing that must hold; the others run even where it does not. */
async function test(name, run) {
  try {
    await run();
    passed++;
    console.error(`  ok: ${name}`);
  } catch (error) {
    failed++;
    console.error(`  FAILED: ${name}: ${error.message}`);
  }
}

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

async function shot(page, name) {
  if (!process.argv.includes("--shots")) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

async function open(browser, options = {}) {
  const page = await browser.newPage(options);
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(message.text()));
  await page.goto(server.address);
  return { page, errors };
}

const settled = (page) =>
  page.waitForFunction(() => /good|bad/.test(document.getElementById("picture-state").className), null, { timeout: 120_000 });

async function verdicts(page) {
  await settled(page);
  return page.locator("figcaption .verdict").allTextContents();
}

const pixels = (page, id) =>
  page.evaluate((id) => {
    const canvas = document.getElementById(id);
    const { width, height } = canvas;
    return { width, height, data: [...canvas.getContext("2d").getImageData(0, 0, width, height).data] };
  }, id);

const browser = await launch();
const { page, errors } = await open(browser, { viewport: { width: 1200, height: 900 } });

await test("the shipped picture is drawn five times, bit-equal", async () => {
  const all = await verdicts(page);
  expect(all.length === 4 && all.every((text) => /ms · [\d.]+ GB\/s · bit-equal$/.test(text)), `verdicts: ${all.join(" | ")}`);
  const { width, height } = await pixels(page, "largest");
  expect(width === 700 && height === 500, `largest channel is ${width} × ${height}`);
});

await test("what is drawn is the maximum", async () => {
  const [picture, largest, mask] = [await pixels(page, "picture"), await pixels(page, "largest"), await pixels(page, "mask")];
  for (let at = 0; at < picture.data.length; at += 4 * 997) {
    const channels = picture.data.slice(at, at + 3);
    expect(largest.data[at] === Math.max(...channels), `pixel ${at / 4}: ${largest.data[at]} of ${channels}`);
    const hot = [0, 1, 2].map((c) => (channels.indexOf(Math.max(...channels)) === c ? 255 : 0));
    expect(hot.every((value, c) => value === mask.data[at + c]), `mask of pixel ${at / 4}`);
  }
});

await test("the device is described", async () => {
  const text = await page.locator("#device").textContent();
  expect(/swiftshader/i.test(text) && /65535 workgroups/.test(text), text);
});
await shot(page, "default");

await test("the slider pools anew", async () => {
  await page.locator("#block").fill("25");
  await page.waitForFunction(() => document.getElementById("pooled").width === 28);
  const all = await verdicts(page);
  expect(all[3].endsWith("bit-equal"), all[3]);
  expect((await page.locator("#block-text").textContent()) === "25 × 25", "the label");
});

await test("another picture is picked", async () => {
  // Two pixels by two, the red one first; a PNG, so that colours stay.
  const png = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(3, 2);
    const context = canvas.getContext("2d");
    for (const [n, colour] of ["#f00", "#0f0", "#00f", "#123", "#fff", "#000"].entries()) {
      context.fillStyle = colour;
      context.fillRect(n % 3, Math.floor(n / 3), 1, 1);
    }
    return [...new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer())];
  });
  await page.locator("#file").setInputFiles({ name: "six.png", mimeType: "image/png", buffer: Buffer.from(png) });
  await page.waitForFunction(() => document.getElementById("picture-size").textContent.startsWith("3 × 2"));
  await verdicts(page);
  const largest = await pixels(page, "largest");
  expect(largest.data.filter((_, i) => i % 4 === 0).join() === "255,255,255,51,255,0", `largest: ${largest.data}`);
});

await test("what is no picture is said to be none, and the page goes on", async () => {
  await page.locator("#file").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello") });
  await page.waitForFunction(() => document.getElementById("picture-state").textContent.includes("notes.txt is no picture"));
  await page.locator("#again").click();
  await page.waitForFunction(() => document.getElementById("picture-state").textContent.includes("All bit-equal"));
});

await test("the workloads run, each bit-equal, and are drawn as bars", async () => {
  await page.locator("#scale").selectOption("0.0625");
  await page.locator("#verify").check();
  await page.locator("#run").click();
  await page.locator("#progress").waitFor({ state: "visible" });
  await page.waitForFunction(() => /done/.test(document.getElementById("workload-state").textContent), null, { timeout: 300_000 });
  const state = await page.locator("#workload-state").textContent();
  expect(state === "All 25 done. All bit-equal to the CPU reference.", state);
  const widths = await page.locator(".bar").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  expect(widths.length === 25 && widths.filter((width) => width > 0).length >= 24, `bars: ${widths}`);
});
await shot(page, "after-clicks");

await test("a run can be stopped", async () => {
  await page.locator("#run").click();
  await page.locator("#stop").click();
  await page.waitForFunction(() => /Stopped after/.test(document.getElementById("workload-state").textContent));
});

await test("nothing was complained about", async () => expect(errors.length === 0, errors.join("; ")));

await test("it fits a phone", async () => {
  const { page } = await open(browser, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true });
  await verdicts(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide <= 390, `${wide} pixels wide`);
  await shot(page, "phone");
});
await browser.close();

await test("without WebGPU it says what to do", async () => {
  const without = await launch([]);
  const context = await without.newContext();
  await context.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { value: undefined }));
  const { page } = await open(context);
  await page.locator("#missing").waitFor({ state: "visible" });
  const text = await page.locator("#missing").textContent();
  expect(/does not offer WebGPU/.test(text) && /chrome:\/\/flags/.test(text), text);
  expect(await page.locator("main").isHidden(), "the panels are shown");
  await shot(page, "without-webgpu");
  await without.close();
});

server.close();
console.log(`page in Chromium: ${passed} of ${passed + failed} tests: ${failed === 0 ? "ok" : "FAILED"}`);
process.exitCode = failed === 0 ? 0 : 1;
