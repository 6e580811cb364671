// Greedy decoding of a network trained with CTC: the best class of each step, of which equal neighbours are one character and
// class 0 is none.

/** The best class of each step, and its chance. */
export interface Best {
  indices: Uint32Array;
  values: Float32Array;
}

/** A character, the steps that it was read in, and the greatest of their chances. */
export interface Character {
  text: string;
  confidence: number;
  begin: number;
  end: number;
}

/** The text of each class, of a file with one to a line: before them there is class 0, and after them the space. */
export function alphabetOf(lines: string): string[] {
  return ["", ...lines.replace(/\r?\n$/, "").split(/\r?\n/), " "];
}

/** The best of each step as a CPU finds it, by the rule of ONNX's ArgMax for numbers: the first of equals. */
export function bestOf(logits: Float32Array, classes: number): Best {
  const steps = logits.length / classes;
  const best = { indices: new Uint32Array(steps), values: new Float32Array(steps) };
  for (let step = 0; step < steps; step++) {
    let at = step * classes;
    for (let n = at + 1; n < (step + 1) * classes; n++) if (logits[n]! > logits[at]!) at = n;
    best.indices[step] = at - step * classes;
    best.values[step] = logits[at]!;
  }
  return best;
}

export function charactersOf({ indices, values }: Best, alphabet: string[]): Character[] {
  const characters: Character[] = [];
  indices.forEach((index, step) => {
    if (index === 0) return;
    const last = characters.at(-1);
    if (last && last.end === step && indices[step - 1] === index) {
      last.end = step + 1;
      last.confidence = Math.max(last.confidence, values[step]!);
    } else {
      characters.push({ text: alphabet[index]!, confidence: values[step]!, begin: step, end: step + 1 });
    }
  });
  return characters;
}

/** At how many steps two answers differ, in the class or in a bit of its chance. */
export function differences(a: Best, b: Best): number {
  const bits = ({ values }: Best) => new Uint32Array(values.buffer, values.byteOffset, values.length);
  const [own, other] = [bits(a), bits(b)];
  if (own.length !== other.length) return Math.max(own.length, other.length);
  return own.filter((value, step) => value !== other[step] || a.indices[step] !== b.indices[step]).length;
}
