import { element, made } from "../../pages/src/dom.js";
import type { Best, Character } from "./ctc.js";
import type { Comparison } from "./decoder.js";
import type { Line } from "./paper.js";

/** Half of what a character may be wide, in steps: the line's height is six. */
const REACH = 3;
/** Below this a character is marked as doubtful. */
const SURE = 0.8;

/** Nothing of what was read before stays. */
export function clearAnswer(): void {
  element("read").textContent = "";
  element("strip").hidden = true;
  for (const id of ["boxes", "steps", "characters"]) element(id).replaceChildren();
  for (const id of ["gpu-bytes", "gpu-time", "cpu-bytes", "cpu-time", "measured"]) element(id).textContent = "";
}

/** The line, and over it a box for each character, in the order in which they were decoded. */
export function showAnswer({ image }: Line, { indices, values }: Best, characters: Character[]): void {
  element("read").textContent = characters.map(({ text }) => text).join("");
  const strip = element("strip");
  strip.hidden = false;
  strip.style.setProperty("--steps", String(indices.length));
  const seen = element<HTMLCanvasElement>("seen");
  Object.assign(seen, { width: image.width, height: image.height });
  seen.getContext("2d")!.drawImage(image, 0, 0);
  element("steps").replaceChildren(...Array.from(values, (value, step) => {
    const bar = made("i", indices[step] === 0 ? "" : "character");
    bar.style.height = `${100 * value}%`;
    return bar;
  }));
  const placed = characters.map((own, n) => ({ ...own, ...edges(characters, n) }));
  element("boxes").replaceChildren(...placed.map((own) => marked(made("span", "box", visible(own.text)), own)));
  element("characters").replaceChildren(...placed.map((own) => {
    const item = marked(made("li", own.confidence < SURE ? "doubtful" : ""), own);
    item.append(made("b", "", visible(own.text)), `${(100 * own.confidence).toFixed(1)} %`);
    return item;
  }));
}

/** Of a character's own steps there may be one: its box goes half way to its neighbours, and no farther than characters are wide. */
function edges(characters: Character[], n: number): { left: number; right: number } {
  const middle = (own?: Character) => own && (own.begin + own.end) / 2;
  const own = middle(characters[n])!;
  const [before, after] = [middle(characters[n - 1]) ?? -Infinity, middle(characters[n + 1]) ?? Infinity];
  return { left: Math.max(own - REACH, (before + own) / 2, 0), right: Math.min(own + REACH, (own + after) / 2) };
}

function marked(made: HTMLElement, { left, right }: { left: number; right: number }): HTMLElement {
  made.style.setProperty("--left", String(left));
  made.style.setProperty("--right", String(right));
  return made;
}

function visible(text: string): string {
  return text === " " ? "␣" : text;
}

export function showComparison({ gpu, cpu }: Comparison): void {
  for (const [name, { milliseconds, bytes }] of Object.entries({ gpu, cpu })) {
    element(`${name}-bytes`).textContent = size(bytes);
    element(`${name}-time`).textContent = `${milliseconds.toFixed(2)} ms`;
  }
}

function size(bytes: number): string {
  return bytes < 10_000 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(2)} MB`;
}
