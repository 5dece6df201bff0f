import type { Dispatcher } from 'undici';

/** An answer's body decides nothing: it is read so far, for the record and to keep the connection. */
const BODY_WITHIN_MS = 1000;
const BODY_LIMIT_BYTES = 64 * 1024;
const KEPT_BYTES = 1024;

export interface Answer {
  status: number;
  /** Of the body. */
  start: Buffer;
}

/**
 * One request, within a time to the end of its answer's headers. A body that is not over in time or size is cut off, and
 * its connection with it; one that breaks off was answered all the same. Without the streams and signals that undici's own
 * `request` is made of.
 */
export function postOnce(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  headersWithinMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status: number | undefined;
    let isOver = false;
    let controller: Dispatcher.DispatchController | undefined;
    const end = (error?: Error): void => {
      isOver = true;
      clearTimeout(timer);
      if (status === undefined) reject(error);
      else resolve({ status, start: Buffer.concat(chunks).subarray(0, KEPT_BYTES) });
    };
    const cutOff = (): void => {
      const timeout = new Error('timeout');
      end(timeout);
      controller?.abort(timeout);
    };
    let timer = setTimeout(cutOff, headersWithinMs);
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        // It has waited for a connection until its time was over: it must not be sent any more.
        if (isOver) cutOff();
      },
      onResponseStart(_controller, code) {
        if (code < 200) return;
        status = code;
        clearTimeout(timer);
        timer = setTimeout(cutOff, BODY_WITHIN_MS);
      },
      onResponseData(_controller, chunk) {
        if (bytes < KEPT_BYTES) chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > BODY_LIMIT_BYTES) cutOff();
      },
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(error),
    });
  });
}
