import { shown } from "./check.js";

/** Where a module comes from: its address, its bytes, a response, a compiled module. */
export type Source = URL | string | BufferSource | WebAssembly.Module | Response | Promise<BufferSource | Response>;

/** A WebAssembly module of this package, loaded once. */
export class Loaded<T extends object> {
  #loading: Promise<void> | undefined;
  #ready = false;

  /** Of `own`'s functions those named are the module's; `start` is told the compiled module. */
  constructor(
    readonly name: string,
    readonly hint: string,
    readonly own: T,
    readonly functions: (keyof T & string)[],
    readonly start: (module: { module_or_path: WebAssembly.Module }) => Promise<unknown>,
  ) {}

  load(source: Source): Promise<void> {
    this.#loading ??= this.#load(source).catch((cause: unknown) => {
      this.#loading = undefined; // another try may do better
      const why = cause instanceof Error ? cause.message : shown(cause);
      throw new Error(`the ${this.name} cannot be loaded from ${source instanceof URL ? source.href : shown(source)}: ${why}`, { cause });
    });
    return this.#loading;
  }

  async #load(source: Source): Promise<void> {
    const module = await compiled(await source);
    const there = WebAssembly.Module.exports(module).map(({ name }) => name);
    const missing = this.functions.filter((name) => !there.includes(name));
    if (missing.length > 0) throw new Error(`it has no function ${missing.join(", ")}`);
    await this.start({ module_or_path: module });
    this.#ready = true;
  }

  /** The module's functions. */
  get(): T {
    if (!this.#ready) throw new Error(`the ${this.name} is not loaded: ${this.hint} first`);
    return this.own;
  }
}

async function compiled(given: Awaited<Source>): Promise<WebAssembly.Module> {
  if (given instanceof WebAssembly.Module) return given;
  if (typeof given === "string" || given instanceof URL) return compiled(await fetch(given));
  if (!(given instanceof Response)) return WebAssembly.compile(given);
  if (!given.ok) throw new Error(`HTTP status ${given.status}`);
  return WebAssembly.compile(await given.arrayBuffer());
}
