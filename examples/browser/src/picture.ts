import { argMax, hardmax, reduceMax, type Kernels, type Operation, type Tensor } from "wgmax";
import { reference } from "wgmax/reference";
import { element, say } from "./dom.js";
import { Resident, bitEqual, leastBytes } from "./resident.js";

/** The longest side: the reference is written to be right and not to be fast. */
const MOST_PIXELS = 1200;

/** The pixels as a canvas gives them: four bytes each, the last of them opacity, which every view steps over. */
interface Picture {
  width: number;
  height: number;
  data: Uint8ClampedArray<ArrayBuffer>;
}

/** Everything that is drawn from one picture. */
export class Studio {
  #picture: Picture | undefined;
  #next: (() => Promise<unknown>) | undefined;
  #busy = false;

  constructor(private readonly kernels: Kernels) {
    const file = element<HTMLInputElement>("file");
    file.addEventListener("change", () => file.files?.[0] && this.show(file.files[0], file.files[0].name));
    const drop = element("drop");
    drop.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && file.click());
    for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
      document.addEventListener(name, (event) => {
        event.preventDefault();
        drop.classList.toggle("over", name === "dragenter" || name === "dragover");
      });
    }
    document.addEventListener("drop", (event) => {
      const dropped = event.dataTransfer?.files[0];
      if (dropped) this.show(dropped, dropped.name);
    });
    const block = element<HTMLInputElement>("block");
    block.addEventListener("input", () => this.#soon(() => this.#pool()));
    element("again").addEventListener("click", () => this.#soon(() => this.#all()));
  }

  /** Decodes a picture and draws everything from it. */
  show(source: Blob, name: string): Promise<void> {
    return this.#soon(async () => {
      say("picture-state", `Reading ${name} …`);
      const bitmap = await createImageBitmap(source).catch(() => {
        throw new Error(`${name} is no picture that this browser reads.`);
      });
      const scale = Math.min(1, MOST_PIXELS / Math.max(bitmap.width, bitmap.height));
      const [width, height] = [bitmap.width, bitmap.height].map((size) => Math.max(1, Math.round(size * scale))) as [number, number];
      const context = sized("picture", width, height);
      context.drawImage(bitmap, 0, 0, width, height);
      this.#picture = { width, height, data: context.getImageData(0, 0, width, height).data };
      element("picture-size").textContent = `${width} × ${height} pixels${scale < 1 ? ", made smaller" : ""}`;
      await this.#all();
    });
  }

  /** Runs now, or when what runs is done; of several that wait the last wins. */
  async #soon(run: () => Promise<unknown>): Promise<void> {
    this.#next = run;
    if (this.#busy) return;
    this.#busy = true;
    element<HTMLButtonElement>("again").disabled = true;
    while (this.#next) {
      const own = this.#next;
      this.#next = undefined;
      await own().catch((error: Error) => say("picture-state", error.message, "bad"));
    }
    this.#busy = false;
    element<HTMLButtonElement>("again").disabled = false;
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
      const verdict = element(name).parentElement!.querySelector(".verdict")!;
      verdict.textContent =
        `${milliseconds.toFixed(2)} ms · ${rate.toFixed(2)} GB/s · ${equal ? "bit-equal" : "DIFFERS from the reference"}`;
      verdict.className = `verdict ${equal ? "good" : "bad"}`;
      return equal;
    } finally {
      resident.destroy();
    }
  }
}

/** A canvas of so many pixels, to be drawn on. */
function sized(name: string, width: number, height: number): CanvasRenderingContext2D {
  const canvas = element<HTMLCanvasElement>(name);
  Object.assign(canvas, { width, height });
  return canvas.getContext("2d", { willReadFrequently: true })!;
}
