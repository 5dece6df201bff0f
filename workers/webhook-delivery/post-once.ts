import type { Dispatcher } from 'undici';
import { MAX_RECEIVER_ANSWER_BYTES, RECEIVER_BODY_WITHIN_MS } from '../../shared/limits/bounds.js';

const KEPT_BYTES = 1024;

export interface Answer {
  status: number;
  /** The first bytes of the body. */
  start: Buffer;
  isCutOff: boolean;
}

/**
 * Sends one request and waits at most `headersWithinMs` for the end of the answer's headers. A body that exceeds its time or
 * size is aborted with its connection; the answer counts all the same, also when the body breaks off. Uses `dispatch`, since
 * undici's `request` costs the CPU of a stream and an abort signal for each call.
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
      else {
        const start = Buffer.concat(chunks).subarray(0, KEPT_BYTES);
        resolve({ status, start, isCutOff: error !== undefined });
      }
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
        // The time was used up while the request waited for a connection: it must not be sent any more.
        if (isOver) cutOff();
      },
      onResponseStart(_controller, code) {
        if (code < 200) return;
        status = code;
        clearTimeout(timer);
        timer = setTimeout(cutOff, RECEIVER_BODY_WITHIN_MS);
      },
      onResponseData(_controller, chunk) {
        if (bytes < KEPT_BYTES) chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_RECEIVER_ANSWER_BYTES) cutOff();
      },
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(error),
    });
  });
}
