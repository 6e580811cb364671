import type { Operation, View } from "./operation.js";
import type { Limits } from "./plan.js";

const OPERATORS = ["ReduceMax", "ArgMax", "Hardmax", "Max"] as const;
const DTYPES = ["f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"];

/** The operation as numbers, as `web/planner/src/words.rs` reads them. */
export function encodedOperation(operation: Operation): BigInt64Array {
  const words = new Words();
  const [[operator, own]] = Object.entries(operation) as [[string, Fields]];
  words.choice("operator", operator, OPERATORS);
  words.choice("type", own.dtype, DTYPES);
  words.choice("NaN policy", own.nan ?? "propagate", ["propagate", "ignore"]);
  const views = own.inputs ?? [own.input!];
  words.put(views.length);
  views.forEach((view) => words.view(view));
  switch (operator) {
    case "ReduceMax":
      words.list(own.axes);
      words.put(own.keep_dims ?? false);
      words.choice("maximum of nothing", own.empty ?? "least", ["least", "lowest_finite", "error"]);
      break;
    case "ArgMax":
      words.list(own.axes);
      words.put(own.keep_dims ?? false, own.select_last ?? false);
      words.choice("index type", own.index ?? "i64", ["i64", "i32", "u32"]);
      words.choice("output", own.output ?? "indices", ["indices", "values_and_indices"]);
      break;
    case "Hardmax": {
      const [[kind, axis]] = Object.entries(own.slices!) as [[string, number]];
      words.choice("kind of slices", kind, ["along", "from"]);
      words.put(axis);
      break;
    }
    case "Max":
      words.put(own.in_place ?? -1);
      words.list(own.constant?.shape);
      if (own.constant) {
        words.choice("type", own.constant.dtype, DTYPES);
        words.list(own.constant.bytes);
      }
  }
  return words.encoded();
}

/** A device's limits as numbers. */
export function encodedLimits(limits: Limits): BigInt64Array {
  const words = new Words();
  words.choice("adapter", limits.adapter, ["gpu", "cpu"]);
  words.put(limits.subgroup_size, limits.max_binding_bytes, limits.binding_alignment_bytes, limits.max_storage_bindings);
  words.put(limits.max_group_invocations, limits.max_group_memory_bytes, limits.max_groups);
  return words.encoded();
}

/** What an operation may have. */
interface Fields {
  dtype: string;
  input?: View;
  inputs?: View[];
  axes?: number[];
  keep_dims?: boolean;
  nan?: string;
  empty?: string;
  select_last?: boolean;
  index?: string;
  output?: string;
  slices?: object;
  constant?: { dtype: string; shape: number[]; bytes: number[] };
  in_place?: number;
}

/** Lists have their length before them, -1 stands for what is left out, and a choice is its place among those that there are. */
class Words {
  readonly #words: bigint[] = [];

  put(...numbers: (number | boolean)[]): void {
    for (const number of numbers) this.#words.push(BigInt(number));
  }

  list(numbers: readonly number[] | undefined): void {
    this.put(numbers?.length ?? -1);
    for (const number of numbers ?? []) this.put(number);
  }

  view({ shape, strides, offset }: View): void {
    this.list(shape);
    this.list(strides);
    this.put(offset ?? 0);
  }

  choice(what: string, value: string, among: readonly string[]): void {
    const place = among.indexOf(value);
    if (place < 0) throw new Error(`unknown ${what} ${JSON.stringify(value)}, expected one of ${among.join(", ")}`);
    this.put(place);
  }

  encoded(): BigInt64Array {
    return BigInt64Array.from(this.#words);
  }
}
