/** Runs what is asked for, one after the other; of several that wait only the last. */
export class Latest {
  #next: (() => Promise<unknown>) | undefined;
  #running: Promise<void> | undefined;

  /** What to do with errors, and whenever something begins or ends to run. */
  constructor(private readonly failed: (error: Error) => void, private readonly busy: (busy: boolean) => void = () => {}) {}

  /** Now, or when what runs is done; fulfilled when nothing is left. */
  run(what: () => Promise<unknown>): Promise<void> {
    this.#next = what;
    this.#running ??= this.#all().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Whether something newer waits: what runs may as well end. */
  get superseded(): boolean {
    return this.#next !== undefined;
  }

  async #all(): Promise<void> {
    this.busy(true);
    while (this.#next) {
      const own = this.#next;
      this.#next = undefined;
      await own().catch(this.failed);
    }
    this.busy(false);
  }
}
