import { buildConnector } from 'undici';
import {
  CHAIN_ANSWER_BYTES_IN_FLIGHT,
  CHAIN_ANSWER_BYTES_IN_FLIGHT_OF_ENDPOINT,
  MAX_ANSWER_PIECES,
  MAX_CHAIN_ANSWER_BYTES,
  MAX_CHAIN_ANSWER_VALUES,
  SMALL_BODY_BYTES,
} from '../../limits/bounds.js';
import { type Claim, openBudget } from '../../limits/budget.js';
import { type Answer, exchange, NoRoom } from '../../outgoing/exchange.js';
import { lookupOnce } from '../../outgoing/lookup-once.js';
import { type BoundCode, OutOfBounds } from '../../outgoing/out-of-bounds.js';
import { openOutgoing } from '../../outgoing/outgoing-agent.js';
import { AnswerTooLong, ChainUnreadable } from '../check/unreadable.js';
import { BODYLESS, type ChainFetch } from './rpc-fetch.js';

const CONNECT_WITHIN_MS = 10_000;
/** The request stays the same when it is sent to another address with these. */
const REDIRECTS = [307, 308];
const MOST_REDIRECTS = 3;
const TOO_LONG: readonly BoundCode[] = ['ANSWER_TOO_LONG', 'TOO_MANY_VALUES'];

const bounds = { bodyBytes: MAX_CHAIN_ANSWER_BYTES, pieces: MAX_ANSWER_PIECES };
const { dispatcher } = openOutgoing(bounds, {
  connect: buildConnector({ timeout: CONNECT_WITHIN_MS, lookup: lookupOnce }),
  // The signal of a call limits its time as a whole.
  headersTimeout: 0,
  bodyTimeout: 0,
});
const bytesInFlight = openBudget({
  total: CHAIN_ANSWER_BYTES_IN_FLIGHT,
  perHolder: [CHAIN_ANSWER_BYTES_IN_FLIGHT_OF_ENDPOINT],
});

/**
 * The `fetch` for chains' endpoints. An answer is bounded in length and in values, and the answers that a process reads
 * at once are bounded together and for each endpoint. Throws ChainUnreadable beyond a bound, and the client's error when there
 * is no answer.
 */
export const fetchFromEndpoint: ChainFetch = async (input, init) => {
  let url = new URL(input instanceof Request ? input.url : input);
  const headers = new Headers(init?.headers);
  for (let redirects = 0; ; redirects += 1) {
    const answer = await send(url, headers, init);
    const location = REDIRECTS.includes(answer.status) ? answer.header('location') : undefined;
    if (location === undefined || redirects === MOST_REDIRECTS || !URL.canParse(location, url.href))
      return responseOf(answer);
    const next = new URL(location, url);
    if (next.origin !== url.origin) headers.delete('authorization');
    url = next;
  }
};

/** The signal aborts a request until its body has ended. */
export function fetchUntil(signal: AbortSignal): ChainFetch {
  return (input, init) => fetchFromEndpoint(input, { ...init, signal });
}

async function send(url: URL, headers: Headers, init: RequestInit | undefined): Promise<Answer> {
  init?.signal?.throwIfAborted();
  const body = String(init?.body ?? '');
  const claim = bytesInFlight.claim(url.origin);
  try {
    const request = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST' as const,
      headers: { 'user-agent': 'checkout', accept: '*/*', ...Object.fromEntries(headers) },
      body,
    };
    return await exchange(dispatcher, request, {
      signal: init?.signal,
      maxAnswerBytes: MAX_CHAIN_ANSWER_BYTES,
      maxAnswerValues: MAX_CHAIN_ANSWER_VALUES,
      mayHold: (length) => mayHold(claim, length),
    });
  } catch (error) {
    // Client libraries would show the message with the endpoint's URL, which may hold a key.
    if (error instanceof OutOfBounds || error instanceof NoRoom) {
      const reason = `the endpoint's answer was not read: ${error.message}`;
      throw 'code' in error && TOO_LONG.includes(error.code)
        ? new AnswerTooLong(reason)
        : new ChainUnreadable(reason);
    }
    throw error;
  } finally {
    claim.release();
  }
}

/** Small answers, of which the calls in flight are the limit, always fit. */
function mayHold(claim: Claim, length: number): boolean {
  return length <= SMALL_BODY_BYTES || claim.growTo(length);
}

function responseOf({ status, header, body }: Answer): Response {
  const headers = new Headers();
  for (const name of ['content-type', 'retry-after']) {
    const value = header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Response(BODYLESS.includes(status) ? null : body, { status, headers });
}
