import { Kernels } from "wgmax";
import { adapterName, openDevice, stop } from "../../pages/src/device.js";
import { element, made, say } from "../../pages/src/dom.js";
import { fetched, onFile, pictureOf } from "../../pages/src/files.js";
import { Latest } from "../../pages/src/latest.js";
import { alphabetOf, charactersOf } from "./ctc.js";
import { Decoder } from "./decoder.js";
import { Paper } from "./paper.js";
import { Recogniser, type Logits } from "./recogniser.js";
import { clearAnswer, showAnswer, showComparison } from "./view.js";

/** What is read first. */
const GREETING = "Greedy decoding 2026";
/** How long both ways of decoding are measured, in milliseconds. */
const MEASURED = 400;

/** What the page is made of, once it is there. */
interface Parts {
  recogniser: Recogniser;
  decoder: Decoder;
  alphabet: string[];
}

/** Reads what is on the paper, whenever that changes. */
class Reading {
  #logits: Logits | undefined;
  #first = true;
  readonly #paper = new Paper(() => this.#changed());
  readonly #text = element<HTMLInputElement>("text");
  readonly #runs = new Latest(
    (error) => {
      clearAnswer();
      say("state", error.message, "bad");
    },
    (busy) => {
      element("answer").ariaBusy = String(busy);
      element<HTMLButtonElement>("again").disabled = busy || !this.#logits;
    },
  );

  constructor(private readonly parts: Parts) {
    this.#text.addEventListener("input", () => this.type(this.#text.value));
    element("clear").addEventListener("click", () => {
      this.#text.value = "";
      this.type("");
    });
    element("again").addEventListener("click", () => this.#runs.run(() => this.#compare()));
    onFile((file) => this.#runs.run(async () => {
      this.#forget();
      this.#text.value = "";
      this.#paper.clear();
      this.#paper.put(await pictureOf(file, file.name));
      await this.#read();
    }));
  }

  type(text: string): Promise<void> {
    this.#paper.type(text);
    return this.#changed();
  }

  #changed(): Promise<void> {
    return this.#runs.run(() => this.#read());
  }

  #forget(): void {
    this.#logits?.dispose();
    this.#logits = undefined;
  }

  async #read(): Promise<void> {
    const { recogniser, decoder, alphabet } = this.parts;
    this.#forget();
    const line = this.#paper.line();
    if (!line) {
      clearAnswer();
      return say("state", "The paper is empty: type, draw, or pick a picture.");
    }
    say("state", this.#first ? "Reading for the first time, which compiles the network’s shaders …" : "Reading …");
    const begin = performance.now();
    const logits = (this.#logits = await recogniser.read(line));
    const best = await decoder.decode(logits);
    const milliseconds = performance.now() - begin;
    if (logits.classes !== alphabet.length) {
      throw new Error(`The network has ${logits.classes} classes, its alphabet ${alphabet.length}: they are not of one kind.`);
    }
    const characters = charactersOf(best, alphabet);
    showAnswer(line, best, characters);
    const compiled = this.#first ? ", with compiling its shaders" : "";
    this.#first = false;
    say("state", `${characters.length} characters in ${logits.steps} steps, read and decoded in ${milliseconds.toFixed(0)} ms${compiled}.`, "good");
    await this.#compare();
  }

  async #compare(): Promise<void> {
    if (!this.#logits) return;
    say("measured", "Measuring …");
    const own = await this.parts.decoder.compare(this.#logits, MEASURED, () => !this.#runs.superseded);
    showComparison(own);
    const differ = `They DIFFER in ${own.differences} of ${this.#logits.steps} steps!`;
    const agree = `Equal in all ${this.#logits.steps} steps, bit for bit; ${own.turns} turns.`;
    say("measured", own.differences > 0 ? differ : agree, own.differences > 0 ? "bad" : "good");
  }
}

/** Fetches files and says how far that is. */
async function loaded(names: string[]): Promise<Uint8Array<ArrayBuffer>[]> {
  const bytes = new Map<string, { here: number; all: number | undefined }>();
  const tell = () => {
    const files = [...bytes.values()];
    const here = files.reduce((sum, own) => sum + own.here, 0);
    const all = files.length < names.length ? NaN : files.reduce((sum, own) => sum + (own.all ?? NaN), 0);
    const known = Number.isFinite(all);
    say("loading-state", `${megabytes(here)}${known ? ` of ${megabytes(all)}` : ""} MB of onnxruntime-web and the recogniser`);
    const progress = element<HTMLProgressElement>("loading-progress");
    if (known) progress.value = here / all;
    else progress.removeAttribute("value"); // that it moves is all that can be said
  };
  return Promise.all(names.map((name) => fetched(name, (here, all) => {
    bytes.set(name, { here, all });
    tell();
  })));
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

try {
  const { adapter, device } = await openDevice();
  element("loading").hidden = false;
  const [kernels, [wasm, model, alphabet]] = await Promise.all([
    Kernels.create(device),
    loaded(["ort-wasm-simd-threaded.asyncify.wasm", "ch_PP-OCRv4_rec_infer.onnx", "ppocr_keys_v1.txt"]),
  ]);
  say("loading-state", "Making the recogniser ready for this device …");
  const recogniser = await Recogniser.create(device, wasm!, model!);
  element("device").append(made("dt", "", "Adapter"), made("dd", "", adapterName(adapter)));
  element("software").hidden = kernels.limits.adapter === "hardware";
  element("loading").hidden = true;
  document.querySelector("main")!.hidden = false;
  const reading = new Reading({ recogniser, decoder: new Decoder(kernels), alphabet: alphabetOf(new TextDecoder().decode(alphabet)) });
  element<HTMLInputElement>("text").value = GREETING;
  await reading.type(GREETING);
} catch (error) {
  element("loading").hidden = true;
  stop(error);
}
