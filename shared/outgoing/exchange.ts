import type { Dispatcher } from 'undici';
import { OutOfBounds } from './out-of-bounds.js';
import { ValueCount } from './value-count.js';

export interface Answer {
  status: number;
  /** The value of a header, the first of several. */
  header(name: string): string | undefined;
  body: Buffer;
}

interface Terms {
  maxAnswerBytes: number;
  /** The values of an answer in JSON are counted only when this is given. */
  maxAnswerValues?: number;
  timeoutMs?: number;
  signal?: AbortSignal | null | undefined;
  /** Asked before the answer grows to this length: false ends the exchange, since others use the memory. */
  mayHold?(bytes: number): boolean;
}

/** Thrown at the timeout. The request may have been carried out. */
class OutOfTime extends Error {
  override readonly name = 'TimeoutError';
}

/** Memory for the answer is not free at the moment, which says nothing about the answer. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

/**
 * Sends one request and reads its whole answer, until the timeout or the signal. Avoids the streams and signals of undici's
 * `request`.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { timeoutMs, signal, maxAnswerBytes, maxAnswerValues = Infinity, mayHold = () => true }: Terms,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const values = new ValueCount();
    let status = 0;
    let headers: Record<string, string | string[] | undefined> = {};
    let broken: Error | undefined;
    let abort: ((reason: Error) => void) | undefined;
    const breakOff = (reason: Error): void => {
      broken = reason;
      stopWaiting();
      reject(reason);
      abort?.(reason);
    };
    const onSignal = (): void => breakOff(signal?.reason);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => breakOff(new OutOfTime(`no answer in ${timeoutMs} ms`)), timeoutMs);
    const stopWaiting = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onSignal);
    };
    signal?.addEventListener('abort', onSignal);
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        abort = (reason) => controller.abort(reason);
        // The time passed while the request waited for a connection: it must not be sent any more.
        if (broken !== undefined) abort(broken);
      },
      onResponseStart(_controller, statusCode, received) {
        status = statusCode;
        headers = received;
      },
      onResponseData(_controller, chunk) {
        length += chunk.length;
        if (length > maxAnswerBytes) breakOff(new OutOfBounds('ANSWER_TOO_LONG'));
        else if (Number.isFinite(maxAnswerValues) && values.add(chunk) > maxAnswerValues)
          breakOff(new OutOfBounds('TOO_MANY_VALUES'));
        else if (mayHold(length)) chunks.push(chunk);
        else breakOff(new NoRoom('other answers take all the memory for answers'));
      },
      onResponseEnd() {
        stopWaiting();
        const header = (name: string): string | undefined => [headers[name]].flat()[0];
        resolve({ status, header, body: Buffer.concat(chunks, length) });
      },
      onResponseError(_controller, error) {
        stopWaiting();
        reject(error);
      },
    });
  });
}
