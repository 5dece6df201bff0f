import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** An append-only file of JSON lines. Its writer records what it saw before it does anything else. */
export class Journal<Entry extends object> {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  write(entry: Entry): void {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  read(): Entry[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    // The last line is empty, or is being written.
    return lines.slice(0, -1).map((line): Entry => JSON.parse(line));
  }
}
