import { element } from "../../pages/src/dom.js";

/** A line as the network takes it: planes of blue, green and red from -1 to 1, and 0 where the line has ended. */
export interface Line {
  pixels: Float32Array;
  width: number;
  height: number;
  /** The same, to be shown. */
  image: HTMLCanvasElement;
}

/** The network's height, what its widths are multiples of (so that shapes come again), and the least and the most of them. */
const HEIGHT = 48;
const WIDTHS = { step: 64, least: 320, most: 1600 };
/** The paper's width in its own pixels. */
const WIDE = 1600;
/** How far from the paper's colour ink is, of 255. */
const CONTRAST = 40;

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A paper on which a line is typed, drawn, or put as a picture. */
export class Paper {
  readonly #canvas = element<HTMLCanvasElement>("paper");
  readonly #context = this.#canvas.getContext("2d", { willReadFrequently: true })!;

  constructor(changed: () => void) {
    let scale = 1;
    const at = ({ offsetX, offsetY }: PointerEvent) => [scale * offsetX, scale * offsetY] as const;
    this.#canvas.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0) return; // a second finger, another button
      this.#canvas.setPointerCapture(event.pointerId);
      scale = this.#canvas.width / this.#canvas.clientWidth;
      Object.assign(this.#context, { lineWidth: 5 * scale, lineCap: "round", lineJoin: "round", strokeStyle: "#000" });
      this.#context.beginPath();
      this.#context.moveTo(...at(event));
      this.#context.lineTo(...at(event)); // a click is a dot
      this.#context.stroke();
    });
    this.#canvas.addEventListener("pointermove", (event) => {
      if (!this.#canvas.hasPointerCapture(event.pointerId)) return;
      this.#context.lineTo(...at(event));
      this.#context.stroke();
    });
    this.#canvas.addEventListener("lostpointercapture", changed);
  }

  /** Empty, and as high as eight lines of the page's text are. */
  clear(height = (WIDE * 128) / (this.#canvas.clientWidth || WIDE)): void {
    Object.assign(this.#canvas, { width: WIDE, height: Math.round(height) });
    this.#context.fillStyle = "#fff";
    this.#context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
  }

  type(text: string): void {
    this.clear();
    const { width, height } = this.#canvas;
    const font = (size: number) => (this.#context.font = `${size}px sans-serif`);
    font(100);
    const size = Math.min(0.6 * height, (100 * 0.94 * width) / this.#context.measureText(text).width);
    font(size);
    Object.assign(this.#context, { fillStyle: "#000", textBaseline: "middle" });
    this.#context.fillText(text, 0.03 * width, height / 2);
  }

  /** A picture fills the paper, which is as high as it takes. */
  put(picture: ImageBitmap): void {
    this.clear(Math.max(1, (WIDE * picture.height) / picture.width));
    this.#context.drawImage(picture, 0, 0, this.#canvas.width, this.#canvas.height);
  }

  /** The line, cut to where there is ink; none on an empty paper. */
  line(): Line | undefined {
    const ink = inkOf(this.#context.getImageData(0, 0, this.#canvas.width, this.#canvas.height));
    if (!ink) return undefined;
    const drawn = Math.min(WIDTHS.most, Math.max(1, Math.round((HEIGHT * ink.width) / ink.height)));
    const width = Math.max(WIDTHS.least, Math.ceil(drawn / WIDTHS.step) * WIDTHS.step);
    const image = Object.assign(document.createElement("canvas"), { width, height: HEIGHT });
    const context = image.getContext("2d", { willReadFrequently: true })!;
    context.imageSmoothingQuality = "high";
    context.drawImage(this.#canvas, ink.left, ink.top, ink.width, ink.height, 0, 0, drawn, HEIGHT);
    const { data } = context.getImageData(0, 0, width, HEIGHT);
    const pixels = new Float32Array(3 * HEIGHT * width);
    for (let at = 0; at < HEIGHT * width; at++) {
      if (at % width >= drawn) continue;
      for (const plane of [0, 1, 2]) pixels[plane * HEIGHT * width + at] = data[4 * at + 2 - plane]! / 127.5 - 1;
    }
    return { pixels, width, height: HEIGHT, image };
  }
}

/** Where something differs from the paper, which has the colour that the border has most of; with a margin. */
function inkOf({ data, width, height }: ImageData): Box | undefined {
  const brightness = (at: number) => (data[4 * at]! + data[4 * at + 1]! + data[4 * at + 2]!) / 3;
  const border = [...Array(width).keys()].flatMap((x) => [brightness(x), brightness((height - 1) * width + x)]).sort((a, b) => a - b);
  const paper = border[border.length >> 1]!;
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let at = 0; at < width * height; at++) {
    if (Math.abs(brightness(at) - paper) < CONTRAST) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  }
  if (right < 0) return undefined;
  const tall = Math.max(bottom - top + 1, height / 8); // a dash is no line of text by itself
  const margin = 0.15 * tall;
  const middle = (top + bottom + 1) / 2;
  return { left: left - margin, top: middle - tall / 2 - margin, width: right - left + 1 + 2 * margin, height: tall + 2 * margin };
}
