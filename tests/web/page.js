// Drives the first page of the examples, and reads what it says. `--shots FOLDER` keeps pictures of it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "../../examples/pages/server.js";
import { DESKTOP, PHONE, expect, finish, fitsPhone, pickers, root, says, settled, shot, site, test } from "./drive.js";
import { launch } from "./launch.js";

const workloads = JSON.parse(readFileSync(join(root, "benches/workloads.json"), "utf8"));
const { open, close } = await site("browser");

async function verdicts(page) {
  await settled(page, "picture-state");
  return page.locator("figcaption .verdict").allTextContents();
}

const pixels = (page, id) =>
  page.evaluate((id) => {
    const canvas = document.getElementById(id);
    const { width, height } = canvas;
    return { width, height, data: [...canvas.getContext("2d").getImageData(0, 0, width, height).data] };
  }, id);

/** Those of all operands broadcast together. */
function elements(shapes) {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  const sizes = Array.from({ length: rank }, (_, d) => Math.max(...shapes.map((shape) => shape.at(d - rank) ?? 1)));
  return sizes.reduce((count, size) => count * size, 1);
}

const browser = await launch();
const { page, errors } = await open(browser, DESKTOP);

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

await test("what is no picture is said to be none, nothing of the old one stays, and the page goes on", async () => {
  await page.locator("#file").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello") });
  await says(page, "picture-state", "notes.txt is no picture");
  for (const id of ["picture", "largest", "dominant", "mask", "pooled"]) {
    expect((await pixels(page, id)).data.every((value) => value === 0), `${id} is still drawn`);
  }
  const texts = await page.locator("figcaption .verdict, #picture-size").allTextContents();
  expect(texts.join("") === "", `captions: ${texts.join(" | ")}`);
  expect(await page.locator("#again").isDisabled(), "nothing can run again");
  await page.locator("#block").fill("4"); // nor be pooled
  expect((await page.locator("#picture-state").textContent()).includes("notes.txt is no picture"), "the message is gone");
  await page.locator("#file").setInputFiles(join(root, "examples/data/galaxies.jpg"));
  await says(page, "picture-state", "All bit-equal");
  await page.locator("#again").click();
  await says(page, "picture-state", "All bit-equal");
});

await test("enter and space open the file picker, once", async () => {
  for (const key of ["Enter", "Space"]) {
    const opened = await pickers(page, "#drop", key);
    expect(opened.length === 1 && opened[0] === 1, `${key} opens ${opened}`);
  }
  expect((await page.evaluate(() => scrollY)) === 0, "space scrolls the page");
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

/** The shapes that are read at each workload. */
async function shown(page) {
  const texts = await page.locator(".row .shape").allTextContents();
  return texts.map((text) => text.split(/,? /).slice(2).map((shape) => (shape === "scalar" ? [] : shape.split("×").map(Number))));
}

await test("a sixteenth is a sixteenth of every row", async () => {
  const shapes = await shown(page);
  expect(shapes.length === 25, `${shapes.length} shapes`);
  for (const [n, { name, shapes: full }] of workloads.entries()) {
    const scale = elements(shapes[n]) / elements(full);
    expect(scale > 1 / 17 && scale < 1 / 15, `${name}: ${JSON.stringify(shapes[n])} is 1/${1 / scale} of ${JSON.stringify(full)}`);
  }
});

await test("a run can be stopped", async () => {
  await page.locator("#run").click();
  await page.locator("#stop").click();
  await page.waitForFunction(() => /Stopped after/.test(document.getElementById("workload-state").textContent));
  const state = await page.locator("#workload-state").textContent();
  expect(/^Stopped after \d+ of 25\. (None was|The \d+) compared/.test(state), state);
});

await test("workloads that failed, or were not reached, are not said to be right", async () => {
  const some = [workloads[0], { ...workloads[0], dtype: "float8" }];
  const run = async (list) => {
    const given = (page) => page.route("**/workloads.json", (route) => route.fulfill({ json: list }));
    const { page } = await open(browser, DESKTOP, given);
    await verdicts(page);
    await page.locator("#scale").selectOption("0.0625");
    await page.locator("#verify").check();
    await page.locator("#run").click();
    const state = await settled(page, "workload-state");
    const mood = await page.locator("#workload-state").getAttribute("class");
    await page.close();
    return `${mood}: ${state}`;
  };
  for (const [list, expected] of [
    [some, "state bad: All 2 done. 1 FAILED. The 1 compared are bit-equal to the CPU reference."],
    [some.slice(1), "state bad: All 1 done. 1 FAILED. None was compared with the CPU reference."],
    [some.slice(0, 1), "state good: All 1 done. All bit-equal to the CPU reference."],
  ]) {
    const state = await run(list);
    expect(state === expected, state);
  }
});

await test("nothing was complained about", async () => expect(errors.length === 0, errors.join("; ")));

await test("on a phone it fits, and says each workload's shape", async () => {
  const { page } = await open(browser, PHONE);
  await verdicts(page);
  await fitsPhone(page);
  await shot(page, "phone");
  await page.locator("#scale").selectOption("0.0625");
  await page.locator("#run").tap();
  await says(page, "workload-state", "All 25 done.", 300_000);
  await fitsPhone(page);
  const boxes = await page.locator(".row .shape").evaluateAll((shapes) =>
    shapes.map((own) => ({ text: own.textContent, width: own.getBoundingClientRect().width, cut: own.scrollWidth > own.clientWidth + 1 })));
  expect(boxes.length === 25 && boxes.every(({ width, cut }) => width > 0 && !cut), JSON.stringify(boxes));
  expect(boxes[0].text === "ArgMax float32 1×8016", boxes[0].text);
  await shot(page, "phone-workloads");
});
await browser.close();

await test("without WebGPU it says what to do", async () => {
  const without = await launch([]);
  const context = await without.newContext();
  await context.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { value: undefined }));
  const { page } = await open(context);
  await page.locator("#halted").waitFor({ state: "visible" });
  const text = await page.locator("#halted").textContent();
  expect(/does not offer WebGPU/.test(text) && /chrome:\/\/flags/.test(text), text);
  expect(await page.locator("main").isHidden(), "the panels are shown");
  await shot(page, "without-webgpu");
  await without.close();
});

await test("opened as a file it says how to serve it", async () => {
  const alone = await launch();
  const page = await alone.newPage();
  await page.goto(`file://${join(root, "target/browser/index.html")}`);
  const text = await page.locator("#halted").textContent({ timeout: 5000 });
  expect(/opened as a file.*serve\.js/.test(text), text);
  await alone.close();
});

await test("serve.js says what is wrong before it builds", async () => {
  const taken = await serve(join(root, "target/browser"));
  const port = new URL(taken.address).port;
  const wrong = [
    [["browser", port], `port ${port} is in use, give another`],
    [["browser", "http"], 'the port is "http", a number up to 65535 expected'],
    [["browser", "65536"], 'the port is "65536"'],
    [["pages"], "one of browser, ocr expected"],
    [[], "one of browser, ocr expected"],
  ];
  try {
    for (const [given, message] of wrong) {
      const { status, stdout, stderr } = spawnSync("node", [join(root, "examples/pages/serve.js"), ...given], { encoding: "utf8" });
      expect(status === 1 && stdout === "" && stderr.startsWith("serve.js: ") && stderr.includes(message), `${given}: ${stdout}${stderr}`);
      expect(stderr.trim().split("\n").length === 1, `${given}: more than one line: ${stderr}`);
    }
  } finally {
    taken.close();
  }
});

close();
finish("page in Chromium");
