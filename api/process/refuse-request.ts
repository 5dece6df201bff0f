import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../shared/errors/refusal.js';
import { MAX_HEADER_BYTES, MAX_REQUEST_HEADERS } from '../../shared/limits/bounds.js';

/** Undefined when the head of the request is as it should be. `rawHeaders` has names and values. */
export function refusalOfHead({ rawHeaders, headers, httpVersion }: IncomingMessage): Refusal | undefined {
  if (rawHeaders.length > 2 * MAX_REQUEST_HEADERS)
    return new Refusal('headers_too_large', `Send at most ${MAX_REQUEST_HEADERS} headers.`);
  if (httpVersion === '1.1' && headers.host === undefined)
    return new Refusal('malformed_request', 'The request has no Host header.');
  return undefined;
}

/** Node's parser or one of its timeouts made the error; `reason` is the parser's text. */
export function refusalOfError({ code, reason }: NodeJS.ErrnoException & { reason?: unknown }): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(
        'headers_too_large',
        `The request line and the headers must have at most ${MAX_HEADER_BYTES / 1024} KiB.`,
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal('request_timeout', 'The request took too long to arrive. Send it again.');
    default:
      return new Refusal(
        'malformed_request',
        `The request is not valid HTTP/1.1${typeof reason === 'string' ? `: ${reason}` : ''}.`,
      );
  }
}
