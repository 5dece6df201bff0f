import { MAX_ANSWER_HEAD_BYTES, MAX_ANSWER_HEAD_LINES, MAX_INTERIM_ANSWERS } from '../limits/bounds.js';
import type { BoundCode } from './out-of-bounds.js';

const LINE_FEED = 10;
/** How many bytes of a line are kept: enough to recognise an interim answer's status line, and an empty line. */
const LINE_START = 12;
const INTERIM_STATUS_LINE = /^HTTP\/\d\.\d 1/;
const CONTINUE = /^HTTP\/\d\.\d 100/;
const DIGIT_2 = 50;

/**
 * Counts the bytes and lines of an answer's head, and of the heads of interim answers (1xx) before it, as the bytes arrive
 * and before the parser sees them: undici creates an error, with a stack, for each header above its limit. Turns `100`
 * (Continue) into `102`: undici skips every interim answer but 100, at which it destroys the connection, although a client
 * has to expect all of them (RFC 9110, 15.2).
 */
export class HeadScan {
  #bytes = 0;
  #lines = 0;
  #interim = 0;
  #lineStart = '';
  #isStatusLine = true;
  #isInterim = false;
  #isOver = false;

  /** The exceeded bound, or how many bytes at the start of the chunk belong to the head. */
  read(chunk: Buffer): BoundCode | number {
    let at = 0;
    while (!this.#isOver && at < chunk.length) {
      const end = chunk.indexOf(LINE_FEED, at);
      const next = end === -1 ? chunk.length : end + 1;
      this.#bytes += next - at;
      if (this.#lineStart.length < LINE_START) this.#startLine(chunk, at, next);
      at = next;
      if (end !== -1) this.#endLine();
      if (this.#bytes > MAX_ANSWER_HEAD_BYTES || this.#lines > MAX_ANSWER_HEAD_LINES)
        return 'UND_ERR_HEADERS_OVERFLOW';
      if (this.#interim > MAX_INTERIM_ANSWERS) return 'TOO_MANY_INTERIM_ANSWERS';
    }
    return at;
  }

  #startLine(chunk: Buffer, at: number, next: number): void {
    const end = Math.min(next, at + LINE_START - this.#lineStart.length);
    this.#lineStart += chunk.toString('latin1', at, end);
    if (this.#isStatusLine && CONTINUE.test(this.#lineStart)) chunk[end - 1] = DIGIT_2;
  }

  #endLine(): void {
    const line = this.#lineStart.trimEnd();
    this.#lineStart = '';
    this.#lines += 1;
    if (this.#isStatusLine) {
      // Parsers skip empty lines before a status line.
      if (line === '') return;
      this.#isStatusLine = false;
      this.#isInterim = INTERIM_STATUS_LINE.test(line);
    } else if (line === '') {
      this.#isOver = !this.#isInterim;
      if (this.#isInterim) this.#interim += 1;
      this.#isStatusLine = true;
    }
  }
}
