import { appendFileSync, closeSync, existsSync, openSync, readSync } from 'node:fs';

const NEWLINE = '\n'.charCodeAt(0);
const PIECE_BYTES = 1 << 20;

/** An append-only file of JSON lines. Its writer records what it saw before it does anything else. */
export class Journal<Entry extends object> {
  readonly #file: string;
  /** The lines read so far, and the beginning of a line that was being written. */
  readonly #entries: Entry[] = [];
  #bytesRead = 0;
  #begun: Buffer = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  write(entry: Entry): void {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  /** A run reads its journals many times: each line is parsed once. */
  read(): Entry[] {
    if (!existsSync(this.#file)) return [];
    const descriptor = openSync(this.#file, 'r');
    try {
      const piece = Buffer.alloc(PIECE_BYTES);
      for (;;) {
        const bytes = readSync(descriptor, piece, 0, PIECE_BYTES, this.#bytesRead);
        if (bytes === 0) return [...this.#entries];
        this.#bytesRead += bytes;
        this.#add(piece.subarray(0, bytes));
      }
    } finally {
      closeSync(descriptor);
    }
  }

  #add(piece: Buffer): void {
    const all = Buffer.concat([this.#begun, piece]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    this.#begun = all.subarray(end);
    for (const line of all.toString('utf8', 0, end).split('\n'))
      if (line !== '') this.#entries.push(JSON.parse(line));
  }
}
