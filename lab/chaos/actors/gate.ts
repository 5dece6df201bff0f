/** Callers of `pass` wait while the gate is shut. */
export class Gate {
  #waiting: (() => void)[] = [];
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  shut(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  async passed(): Promise<void> {
    if (this.#isOpen) return;
    await new Promise<void>((pass) => {
      this.#waiting.push(pass);
    });
  }
}
