import type { Dispatcher } from 'undici';

export interface Answer {
  status: number;
  body: string;
  /** The Retry-After header. */
  retryAfter: string | undefined;
}

export interface Terms {
  timeoutMs: number;
  maxAnswerBytes: number;
}

/** Thrown at the timeout. The request may have been carried out. */
class OutOfTime extends Error {
  override readonly name = 'TimeoutError';
}

/** Sends one request and reads its whole answer within a time limit. Avoids the streams and signals of undici's `request`. */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { timeoutMs, maxAnswerBytes }: Terms,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let status = 0;
    let retryAfter: string | undefined;
    let broken: Error | undefined;
    let abort: ((reason: Error) => void) | undefined;
    const breakOff = (reason: Error): void => {
      broken = reason;
      clearTimeout(timer);
      reject(reason);
      abort?.(reason);
    };
    const timer = setTimeout(() => breakOff(new OutOfTime(`no answer in ${timeoutMs} ms`)), timeoutMs);
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        abort = (reason) => controller.abort(reason);
        // The timeout passed while the request waited for a connection: it must not be sent any more.
        if (broken !== undefined) abort(broken);
      },
      onResponseStart(_controller, statusCode, headers) {
        status = statusCode;
        retryAfter = [headers['retry-after']].flat()[0];
      },
      onResponseData(_controller, chunk) {
        length += chunk.length;
        if (length > maxAnswerBytes) breakOff(new Error('the answer is too long'));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        clearTimeout(timer);
        resolve({ status, retryAfter, body: Buffer.concat(chunks).toString('utf8') });
      },
      onResponseError(_controller, error) {
        clearTimeout(timer);
        reject(error);
      },
    });
  });
}
