import { argMax, hardmax, reduceMax, type Kernels, type Operation, type Tensor } from "wgmax";
import { reference } from "wgmax/reference";
import { element, say } from "../../pages/src/dom.js";
import { onFile, pictureOf } from "../../pages/src/files.js";
import { Latest } from "../../pages/src/latest.js";
import { Resident, bitEqual, leastBytes } from "./resident.js";

/** The longest side: the reference is written to be right and not to be fast. */
const MOST_PIXELS = 1200;

/** The pixels as a canvas gives them: four bytes each, the last of them opacity, which every view steps over. */
interface Picture {
  width: number;
  height: number;
  data: Uint8ClampedArray<ArrayBuffer>;
}

/** What is drawn from the picture, by the names of their canvases. */
const DRAWN = ["largest", "dominant", "mask", "pooled"];

/** Everything that is drawn from one picture. */
export class Studio {
  #picture: Picture | undefined;
  readonly #runs = new Latest(
    (error) => say("picture-state", error.message, "bad"),
    (busy) => (element<HTMLButtonElement>("again").disabled = busy || !this.#picture),
  );

  constructor(private readonly kernels: Kernels) {
    onFile((file) => this.show(file, file.name));
    element("block").addEventListener("input", () => this.#runs.run(() => this.#pool()));
    element("again").addEventListener("click", () => this.#runs.run(() => this.#all()));
  }

  /** Decodes a picture and draws everything from it. */
  show(source: Blob, name: string): Promise<void> {
    return this.#runs.run(async () => {
      say("picture-state", `Reading ${name} …`);
      this.#clear();
      const bitmap = await pictureOf(source, name);
      const scale = Math.min(1, MOST_PIXELS / Math.max(bitmap.width, bitmap.height));
      const [width, height] = [bitmap.width, bitmap.height].map((size) => Math.max(1, Math.round(size * scale))) as [number, number];
      const context = sized("picture", width, height);
      context.drawImage(bitmap, 0, 0, width, height);
      this.#picture = { width, height, data: context.getImageData(0, 0, width, height).data };
      element("picture-size").textContent = `${width} × ${height} pixels${scale < 1 ? ", made smaller" : ""}`;
      await this.#all();
    });
  }

  /** Nothing of the picture before stays, for the next one may be none. */
  #clear(): void {
    this.#picture = undefined;
    element("picture-size").textContent = "";
    for (const name of ["picture", ...DRAWN]) sized(name, 1, 1);
    for (const name of DRAWN) verdictOf(name).textContent = "";
  }

  async #all(): Promise<void> {
    if (!this.#picture) return;
    say("picture-state", "Running …");
    const { width, height } = this.#picture;
    const pixels = { shape: [height, width, 3], strides: [4 * width, 4, 1] };
    const outcomes = [
      await this.#draw("largest", reduceMax("u8", pixels, { axes: [-1] }), ([largest], at) => {
        const value = largest!.data[at] as number;
        return [value, value, value];
      }),
      await this.#draw(
        "dominant",
        argMax("u8", pixels, { axes: [-1], index: "u32", output: "values_and_indices" }),
        ([values, indices], at) => [0, 1, 2].map((channel) => (indices!.data[at] === channel ? (values!.data[at] as number) : 0)),
      ),
      await this.#draw("mask", hardmax("u8", pixels, { along: -1 }), ([mask], at) =>
        [0, 1, 2].map((channel) => 255 * (mask!.data[3 * at + channel] as number))),
      await this.#pool(),
    ];
    const equal = outcomes.every((outcome) => outcome);
    say("picture-state", equal ? "All bit-equal to the CPU reference." : "An answer differs from the reference!", equal ? "good" : "bad");
  }

  /** A picture cut into blocks is a view with more dimensions: pooling is a reduction of it, and no pixel is moved. */
  async #pool(): Promise<boolean> {
    if (!this.#picture) return true;
    const { width, height } = this.#picture;
    const block = Math.min(Number(element<HTMLInputElement>("block").value), width, height);
    element("block-text").textContent = `${block} × ${block}`;
    const blocks = {
      shape: [Math.floor(height / block), block, Math.floor(width / block), block, 3],
      strides: [4 * width * block, 4 * width, 4 * block, 4, 1],
    };
    return this.#draw("pooled", reduceMax("u8", blocks, { axes: [1, 3] }), ([pooled], at) =>
      [0, 1, 2].map((channel) => pooled!.data[3 * at + channel] as number));
  }

  /** Runs an operation on the picture, draws its answer pixel by pixel, and says how it went. */
  async #draw(name: string, operation: Operation, colour: (answer: Tensor[], at: number) => number[]): Promise<boolean> {
    const input = new Uint8Array(this.#picture!.data.buffer);
    const resident = await Resident.create(this.kernels, operation, [input]);
    try {
      const milliseconds = await resident.median(3, 30);
      const answer = await resident.read();
      const [height, width] = answer[0]!.shape as [number, number];
      const context = sized(name, width, height);
      const image = context.createImageData(width, height);
      for (let at = 0; at < width * height; at++) image.data.set([...colour(answer, at), 255], 4 * at);
      context.putImageData(image, 0, 0);
      const equal = bitEqual(answer, reference(operation, [input]));
      const rate = leastBytes(operation) / milliseconds / 1e6;
      const verdict = verdictOf(name);
      verdict.textContent =
        `${milliseconds.toFixed(2)} ms · ${rate.toFixed(2)} GB/s · ${equal ? "bit-equal" : "DIFFERS from the reference"}`;
      verdict.className = `verdict ${equal ? "good" : "bad"}`;
      return equal;
    } finally {
      resident.destroy();
    }
  }
}

/** Where it is said how a drawing went. */
function verdictOf(name: string): Element {
  return element(name).parentElement!.querySelector(".verdict")!;
}

/** A canvas of so many pixels, all empty, to be drawn on. */
function sized(name: string, width: number, height: number): CanvasRenderingContext2D {
  const canvas = element<HTMLCanvasElement>(name);
  Object.assign(canvas, { width, height });
  return canvas.getContext("2d", { willReadFrequently: true })!;
}
