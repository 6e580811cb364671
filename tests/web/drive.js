// Drives a page as a person would: what the tests of each example's page share. `--shots FOLDER` keeps pictures of it.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { serve } from "../../examples/pages/server.js";

export const root = join(import.meta.dirname, "../..");
const shots = process.argv.includes("--shots") ? process.argv[process.argv.indexOf("--shots") + 1] : undefined;
let passed = 0;
let failed = 0;

/** One thing that must hold; the others run even where it does not. */
export async function test(name, run) {
  try {
    await run();
    passed++;
    console.error(`  ok: ${name}`);
  } catch (error) {
    failed++;
    console.error(`  FAILED: ${name}: ${error.message}`);
  }
}

export function expect(holds, what) {
  if (!holds) throw new Error(what);
}

/** How all went, in one line. */
export function finish(route) {
  console.log(`${route}: ${passed} of ${passed + failed} tests: ${failed === 0 ? "ok" : "FAILED"}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

export async function shot(page, name) {
  if (shots === undefined) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

export const DESKTOP = { viewport: { width: 1200, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** An example's page, as it was built, on a server of its own. */
export async function site(example) {
  const server = await serve(join(root, "target", example));
  return {
    address: server.address,
    close: server.close,
    /** Opens it in a browser, and keeps what it complains about; `prepare` is called before it loads. */
    async open(browser, options = {}, prepare = async () => {}) {
      const page = await browser.newPage(options);
      const errors = [];
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(message.text()));
      await prepare(page);
      await page.goto(server.address);
      return { page, errors };
    },
  };
}

/** Waits until what the page says in an element of state is good or bad, and gives that. */
export async function settled(page, id, timeout = 120_000) {
  const element = page.locator(`#${id}.good, #${id}.bad`);
  await element.waitFor({ timeout });
  return element.textContent();
}

/** Waits until an element says this. */
export function says(page, id, text, timeout = 120_000) {
  return page.waitForFunction(([id, text]) => document.getElementById(id).textContent.includes(text), [id, text], { timeout });
}

export async function fitsPhone(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide <= PHONE.viewport.width, `${wide} pixels wide`);
}

/** How many file pickers a key opens, in each place in an element where the focus may be. */
export async function pickers(page, within, key) {
  const opened = [];
  let current = 0;
  const count = () => current++;
  page.on("filechooser", count);
  for (const place of await page.locator(`${within}, ${within} *`).all()) {
    const focused = await place.evaluate((own) => {
      if (own.tabIndex < 0) return false;
      own.focus();
      return document.activeElement === own;
    });
    if (!focused) continue;
    current = 0;
    await page.keyboard.press(key);
    await page.waitForTimeout(300); // a second one would come late
    opened.push(current);
  }
  page.off("filechooser", count);
  return opened;
}
