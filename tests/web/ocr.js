// Drives the page that reads a line of text, and reads what it says. `--shots FOLDER` keeps pictures of it.
//
// One reading takes SwiftShader seconds, so there are few.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DESKTOP, PHONE, expect, finish, fitsPhone, pickers, root, says, settled, shot, site, test } from "./drive.js";
import { launch } from "./launch.js";

const MODEL = "ch_PP-OCRv4_rec_infer.onnx";
const READING = 300_000;
const { open, close } = await site("ocr");
const { alphabetOf, bestOf, charactersOf, differences } = await import(pathToFileURL(join(root, "target/ocr/ocr/src/ctc.js")));

const best = (indices, values) => ({ indices: Uint32Array.from(indices), values: Float32Array.from(values) });

await test("CTC: equal neighbours are one character, none and a gap end it", async () => {
  const alphabet = alphabetOf("a\nb\n");
  expect(alphabet.join("|") === "|a|b| ", `alphabet: ${alphabet.join("|")}`);
  const own = charactersOf(best([0, 1, 1, 0, 1, 2, 3, 0], [1, 0.5, 0.75, 1, 0.25, 1, 1, 1]), alphabet);
  const said = own.map(({ text, confidence, begin, end }) => `${text} ${confidence} ${begin}-${end}`).join(", ");
  expect(said === "a 0.75 1-3, a 0.25 4-5, b 1 5-6,   1 6-7", said);
  expect(charactersOf(best([0, 0], [1, 1]), alphabet).length === 0, "nothing is none");
});

await test("the CPU finds the first of equals, and a planted difference is seen", async () => {
  const own = bestOf(Float32Array.of(0, 2, 2, -1, -3, -1, 5, 0, 5), 3);
  expect(own.indices.join() === "1,0,0" && own.values.join() === "2,-1,5", `${own.indices} ${own.values}`);
  expect(differences(own, best([1, 0, 0], [2, -1, 5])) === 0, "equal ones differ");
  expect(differences(own, best([1, 2, 0], [2, -1, 5])) === 1, "another class");
  expect(differences(best([0], [0]), best([0], [-0])) === 1, "another bit");
  expect(differences(own, best([1, 0], [2, -1])) > 0, "a step too few");
});

/** Everything that the page says of a line, when it has been read and measured, and no newer one waits. */
async function reading(page) {
  await page.locator("#answer[aria-busy=false]").waitFor({ timeout: READING });
  await settled(page, "state", READING);
  await settled(page, "measured", READING);
  const text = async (id) => (await page.locator(`#${id}`).textContent()).trim();
  return { read: await page.locator("#read").textContent(), state: await text("state"), measured: await text("measured") };
}

/** Does something that changes the line: what was read, once that is another. */
async function readAfter(page, change) {
  const old = await page.locator("#read").textContent();
  await change();
  await page.waitForFunction((old) => {
    const read = document.getElementById("read").textContent;
    const done = document.getElementById("answer").ariaBusy === "false"; // what is drawn is read stroke by stroke
    return done && ((read !== old && read !== "") || document.getElementById("state").className.includes("bad"));
  }, old, { timeout: READING });
  return reading(page);
}

function expectRead(own, text) {
  expect(own.read === text, `read ${JSON.stringify(own.read)}, expected ${JSON.stringify(text)}: ${own.state}`);
  expect(/^Equal in all \d+ steps, bit for bit; \d+ turns\.$/.test(own.measured), own.measured);
}

const browser = await launch();
const { page, errors } = await open(browser, DESKTOP);

await test("while it loads it says how far", async () => {
  await says(page, "loading-state", " of 37.6 MB");
  await page.locator("#loading").waitFor({ state: "hidden" });
  await says(page, "state", "Reading for the first time");
});

await test("the line that is there is read, and both ways of decoding agree", async () => {
  expectRead(await reading(page), "Greedy decoding 2026");
  const cells = await page.locator("tbody td").allTextContents();
  expect(cells[0] === "448 bytes" && cells[2] === "1.48 MB", cells.join(" | ")); // 56 steps: 8 bytes, or 6625 chances
  expect(/^\d+\.\d\d ms$/.test(cells[1]) && /^\d+\.\d\d ms$/.test(cells[3]), cells.join(" | "));
});

await test("each character has a box where it is, and its confidence", async () => {
  const boxes = await page.locator(".box").evaluateAll((boxes) => boxes.map((own) => {
    const { left, right, width } = own.getBoundingClientRect();
    return { text: own.textContent, left, right, width };
  }));
  expect(boxes.map(({ text }) => text).join("") === "Greedy␣decoding␣2026", JSON.stringify(boxes));
  expect(boxes.every(({ left, width }, n) => width > 5 && (n === 0 || left >= boxes[n - 1].right - 1)), JSON.stringify(boxes));
  const seen = await page.locator("#seen").boundingBox();
  expect(boxes[0].left < seen.x + 0.1 * seen.width && boxes.at(-1).right > seen.x + 0.9 * seen.width, "they do not span the line");
  const list = await page.locator("#characters li").allTextContents();
  expect(list.length === 20 && list.every((text) => /^.\d+\.\d %$/u.test(text) && parseFloat(text.slice(1)) > 50), list.join(" | "));
});
await shot(page, "ocr");

await test("it can be measured again", async () => {
  await page.locator("#again").click();
  await says(page, "measured", "Equal in all 56 steps");
});

await test("a narrow window has no room beside it", async () => {
  await page.setViewportSize(PHONE.viewport);
  await fitsPhone(page);
  await page.setViewportSize(DESKTOP.viewport);
});

await test("another line is typed", async () => {
  const own = await readAfter(page, async () => {
    await page.locator("#text").focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await says(page, "state", "The paper is empty");
    await page.keyboard.insertText("ArgMax, 13 types");
  });
  expectRead(own, "ArgMax, 13 types");
});

await test("what is no picture is said to be none, and nothing of the old line stays", async () => {
  await page.locator("#file").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello") });
  await says(page, "state", "notes.txt is no picture");
  expect((await page.locator("#read").textContent()) === "" && (await page.locator("#strip").isHidden()), "the old answer is shown");
  expect((await page.locator(".box, #characters li, #steps i").count()) === 0, "old boxes are there");
  expect((await page.locator("td").allTextContents()).join("") === "", "old times are shown");
  expect(await page.locator("#again").isDisabled(), "nothing can be measured again");
});

await test("a picture of a line is read", async () => {
  const png = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(420, 90);
    const context = canvas.getContext("2d");
    Object.assign(context, { fillStyle: "#234" });
    context.fillRect(0, 0, 420, 90);
    Object.assign(context, { fillStyle: "#fe9", font: "50px serif" });
    context.fillText("picture 42", 30, 60);
    return [...new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer())];
  });
  const own = await readAfter(page, () =>
    page.locator("#file").setInputFiles({ name: "line.png", mimeType: "image/png", buffer: Buffer.from(png) }));
  expectRead(own, "picture 42");
});

await test("a drawing is read", async () => {
  await page.locator("#clear").click();
  await says(page, "state", "The paper is empty");
  const own = await readAfter(page, async () => {
    const { x, y } = await page.locator("#paper").boundingBox();
    const line = async (...points) => {
      await page.mouse.move(x + points[0][0], y + points[0][1]);
      await page.mouse.down();
      for (const [dx, dy] of points) await page.mouse.move(x + dx, y + dy, { steps: 5 });
      await page.mouse.up();
    };
    await line([100, 20], [100, 100]);
    await line([150, 20], [150, 100]);
    await line([100, 60], [150, 60]);
    await line([190, 20], [190, 98], [235, 98]);
    await page.evaluate(() => new Promise(requestAnimationFrame)); // the page knows of the last stroke
  });
  expectRead(own, "HL");
});
await shot(page, "ocr-drawing");

await test("enter and space open the file picker, once", async () => {
  for (const key of ["Enter", "Space"]) {
    const opened = await pickers(page, "#drop", key);
    expect(opened.length === 1 && opened[0] === 1, `${key} opens ${opened}`);
  }
});

await test("nothing was complained about", async () => expect(errors.length === 0, errors.join("; ")));
await page.close();

await test("on a phone it fits", async () => {
  const { page } = await open(browser, PHONE);
  expectRead(await reading(page), "Greedy decoding 2026");
  await fitsPhone(page);
  await shot(page, "ocr-phone");
  await page.close();
});

/** What the page says where it cannot go on. */
async function halted(browser, prepare) {
  const { page } = await open(browser, {}, prepare);
  const text = await page.locator("#halted").textContent({ timeout: 120_000 });
  expect((await page.locator("main").isHidden()) && (await page.locator("#loading").isHidden()), "panels are shown");
  await page.close();
  return text;
}

await test("without the model, or with another file in its place, it says so", async () => {
  const missing = await halted(browser, (page) => page.route(`**/${MODEL}`, (route) => route.fulfill({ status: 404 })));
  expect(missing.includes(`${MODEL} is not beside this page (status 404)`), missing);
  const junk = await halted(browser, (page) => page.route(`**/${MODEL}`, (route) => route.fulfill({ body: "no model" })));
  expect(junk.includes("The recogniser cannot be loaded: "), junk);
  const gone = await halted(browser, (page) => page.route(`**/${MODEL}`, (route) => route.abort()));
  expect(gone.includes(`${MODEL} could not be loaded`), gone);
});

await test("with another alphabet it says so", async () => {
  const { page } = await open(browser, {}, (page) => page.route("**/ppocr_keys_v1.txt", (route) => route.fulfill({ body: "a\nb\n" })));
  await says(page, "state", "The network has 6625 classes, its alphabet 4", READING);
  await page.close();
});

await test("without WebGPU it says what to do", async () => {
  const text = await halted(browser, (page) =>
    page.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { value: undefined })));
  expect(/does not offer WebGPU/.test(text) && /chrome:\/\/flags/.test(text), text);
});

await test("without an adapter it says what to do", async () => {
  const text = await halted(browser, (page) => page.addInitScript(() => (GPU.prototype.requestAdapter = async () => null)));
  expect(/finds no graphics adapter/.test(text) && /chrome:\/\/flags/.test(text), text);
});

await browser.close();
close();
finish("line of text in Chromium");
