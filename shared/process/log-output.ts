import { writeSync } from 'node:fs';

/** Lines are buffered for at most this time: one system call per line took a tenth of a request's time. */
const FLUSH_EVERY_MS = 100;
/** A pipe holds 64 KiB: its reader may have taken them long before the next regular flush. Doubles while nothing is taken. */
const FIRST_AFTER_REFUSAL_MS = 5;
const BUFFER_CHARS = 8192;
/** Beyond this, lines that nobody takes are dropped: at one request's line of 300 characters, some 3,000 of them. */
const MOST_KEPT = 1024 * 1024;
/** Lines are kept again from here on, so that few gaps, each with its count, take the place of many. */
const KEPT_AFTER_GAP = MOST_KEPT / 2;
const LAST_TRIES = 100;
const BETWEEN_LAST_TRIES_MS = 10;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * The process's log, which never waits for whoever reads it. A pipe whose reader stands still would hold the event loop, and
 * with it every payment and every signal to stop, and so would a full disk. Node has made such a pipe non-blocking, so that
 * it refuses what it has no room for. Lines are kept meanwhile, then dropped and counted; none is written in part.
 */
export class LogOutput {
  /** Called when lines are kept or taken again, after so many were dropped: it may write in place of them. */
  onDropped: (lines: number) => void = () => {};
  readonly #fd: number;
  readonly #write: (fd: number, bytes: Uint8Array) => number;
  #lines = '';
  /** The rest of lines that the system has taken in part. */
  #rest: Buffer = Buffer.alloc(0);
  #isRefused = false;
  #isWaiting = false;
  #afterRefusalMs = FIRST_AFTER_REFUSAL_MS;
  #isFull = false;
  #dropped = 0;

  constructor(fd: number, write: (fd: number, bytes: Uint8Array) => number = writeSync) {
    this.#fd = fd;
    this.#write = write;
    setInterval(() => this.flush(), FLUSH_EVERY_MS).unref();
  }

  write(line: string): void {
    this.#isFull = this.#rest.length + this.#lines.length > (this.#isFull ? KEPT_AFTER_GAP : MOST_KEPT);
    if (this.#isFull) this.#dropped += 1;
    else {
      this.#tellDropped();
      this.#lines += line;
    }
    if (this.#lines.length >= BUFFER_CHARS && !this.#isRefused) this.flush();
  }

  flush(): void {
    try {
      while (this.#rest.length > 0 || this.#lines !== '') this.#writeSome();
      this.#isRefused = false;
    } catch {
      // The output takes nothing: its reader has no room, or is gone, or a disk is full.
      this.#isRefused = true;
      this.#tryAgain();
      return;
    }
    this.#tellDropped();
  }

  /** The process ends after it. A reader that is only slow gets the last lines. */
  flushLast(): void {
    for (let tries = 0; tries < LAST_TRIES; tries += 1) {
      this.flush();
      if (!this.#isRefused) return;
      Atomics.wait(pauseCell, 0, 0, BETWEEN_LAST_TRIES_MS);
    }
  }

  #writeSome(): void {
    if (this.#rest.length === 0) {
      this.#rest = Buffer.from(this.#lines);
      this.#lines = '';
    }
    this.#rest = this.#rest.subarray(this.#write(this.#fd, this.#rest));
    this.#afterRefusalMs = FIRST_AFTER_REFUSAL_MS;
  }

  #tryAgain(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    const inMs = this.#afterRefusalMs;
    this.#afterRefusalMs = Math.min(inMs * 2, FLUSH_EVERY_MS);
    setTimeout(() => {
      this.#isWaiting = false;
      this.flush();
    }, inMs).unref();
  }

  #tellDropped(): void {
    const dropped = this.#dropped;
    if (dropped === 0) return;
    this.#dropped = 0;
    this.onDropped(dropped);
  }
}
