/** What the modules are given of an operation. */
export interface Encoded {
  words: BigInt64Array;
  /** The bytes of its constant, beside the numbers. */
  constant: Uint8Array;
}

type Value = number | boolean | undefined | Uint8Array | readonly Value[] | { [field: string]: Value };

/**
 * What was checked, as the numbers that `web/planner/src/words.rs` reads: a record is its fields in their order, lists have
 * their length before them, and -1 stands for what is left out.
 */
export function encoded(values: readonly unknown[]): Encoded {
  const numbers: number[] = [];
  let constant = new Uint8Array();
  const put = (value: Value): void => {
    if (value instanceof Uint8Array) {
      constant = value as Uint8Array<ArrayBuffer>;
    } else if (Array.isArray(value)) {
      numbers.push(value.length);
      value.forEach(put);
    } else if (typeof value === "object") {
      Object.values(value).forEach(put);
    } else {
      numbers.push(Number(value ?? -1));
    }
  };
  (values as Value[]).forEach(put);
  return { words: BigInt64Array.from(numbers, BigInt), constant };
}
