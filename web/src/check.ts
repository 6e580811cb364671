/**
 * What callers give, looked at once and copied: the rest of the package meets nothing but what it knows. Callers may have no
 * TypeScript, so nothing about a value is believed that was not asked for.
 */

/** The value as it is to be, or an error that says its name, what was given and what was expected. */
export type Check<T> = (given: unknown, name: string) => T;

export function refuse(name: string, given: unknown, expected: string): never {
  throw new Error(`${name} is ${shown(given)}, ${expected} expected`);
}

export const flag: Check<boolean> = (given, name) =>
  typeof given === "boolean" ? given : refuse(name, given, "true or false");

export const text: Check<string> = (given, name) => (typeof given === "string" ? given : refuse(name, given, "a string"));

/** An integer between these, both included. Beyond 2^53 numbers stand for their neighbours, too. */
export function integer(least = 0, most = Number.MAX_SAFE_INTEGER): Check<number> {
  return (given, name) => {
    if (Number.isSafeInteger(given) && (given as number) >= least && (given as number) <= most) return given as number;
    return refuse(name, given, `an integer from ${bound(least)} to ${bound(most)}`);
  };
}

export function oneOf<const T extends string>(among: readonly T[]): Check<T> {
  return (given, name) => {
    if (among.includes(given as T)) return given as T;
    return refuse(name, given, `one of ${among.map((own) => JSON.stringify(own)).join(", ")}`);
  };
}

/** What is left out, or undefined, is as if this had been given. */
export function optional<T>(check: Check<T>): Check<T | undefined>;
export function optional<T>(check: Check<T>, otherwise: T): Check<T>;
export function optional<T>(check: Check<T>, otherwise?: T): Check<T | undefined> {
  return (given, name) => (given === undefined ? otherwise : check(given, name));
}

/** An array, or a typed one of numbers. */
export function listOf<T>(check: Check<T>, what: string, most = Infinity): Check<T[]> {
  return (given, name) => {
    if (!isList(given)) return refuse(name, given, what);
    if (given.length > most) throw new Error(`${name} has ${given.length} entries, at most ${most} expected`);
    return Array.from(given, (own, n) => check(own, `${name}[${n}]`));
  };
}

type Table = Record<string, Check<unknown>>;
export type Checked<T extends Table> = { [K in keyof T]: ReturnType<T[K]> };

/** A plain object with these fields, and no others unless it is open. */
export function record<T extends Table>(table: T, what = "an object", open = false): Check<Checked<T>> {
  return (given, name) => {
    if (!isPlain(given)) return refuse(name, given, what);
    const unknown = open ? undefined : keys(given).find((key) => !Object.hasOwn(table, key));
    if (unknown !== undefined) throw new Error(`${name}.${cut(unknown)} is unknown, there are ${Object.keys(table).join(", ")}`);
    const checked = Object.entries(table).map(([key, check]) => [key, check(given[key], `${name}.${key}`)]);
    return Object.fromEntries(checked);
  };
}

/** Those that it has of its prototype, too: they would be read. */
function keys(given: object): string[] {
  const names: string[] = [];
  for (const key in given) names.push(key);
  return names;
}

export function isList(given: unknown): given is ArrayLike<unknown> & Iterable<unknown> {
  return Array.isArray(given) || arrayName(given) !== undefined;
}

/** An object that is nothing but its fields: of a Map, say, the fields would say nothing. */
export function isPlain(given: unknown): given is Record<string, unknown> {
  if (typeof given !== "object" || given === null) return false;
  const prototype = Object.getPrototypeOf(given);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** An object with these methods: what a host's WebGPU makes has no class that could be asked for everywhere. */
export function hasMethods(given: unknown, ...methods: string[]): boolean {
  const own = given as Record<string, unknown>;
  return typeof given === "object" && given !== null && methods.every((method) => typeof own[method] === "function");
}

const typedArrays = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** What kind of typed array it is, of whatever realm; undefined for everything else. */
export function arrayName(given: unknown): string | undefined {
  return Reflect.get(typedArrays, Symbol.toStringTag, given) as string | undefined;
}

/** In a few words: it may be anything, and as long as it likes. */
export function shown(given: unknown): string {
  if (typeof given === "string") return JSON.stringify(given.length > 60 ? `${given.slice(0, 60)}…` : given);
  if (typeof given === "bigint") return `${cut(String(given))}n`;
  if (typeof given === "function") return "a function";
  if (typeof given !== "object" || given === null) return Object.is(given, -0) ? "-0" : String(given);
  if (isList(given)) return `${Array.isArray(given) ? "a list" : kind(arrayName(given)!)} of ${given.length}`;
  if (isPlain(given)) return `{ ${cut(Object.keys(given).join(", "))} }`;
  return kind(Object.prototype.toString.call(given).slice(8, -1));
}

/** Its name as one says it. */
export function kind(name: string): string {
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${cut(name)}`;
}

function cut(long: string): string {
  return long.length > 60 ? `${long.slice(0, 60)}…` : long;
}

function bound(number: number): string {
  if (Math.abs(number) !== Number.MAX_SAFE_INTEGER) return String(number);
  return number < 0 ? "-2^53 + 1" : "2^53 - 1";
}
