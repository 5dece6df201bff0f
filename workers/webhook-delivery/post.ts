import { Agent, type Dispatcher, request } from 'undici';
import { assertPublicHost, publicLookup, type Resolve } from '../../shared/public-address.js';

/** From the start of a try, name look-up and TLS included, to the end of the answer's headers. */
const HEADERS_WITHIN_MS = 10_000;
/** An answer's body decides nothing: it is read so far, for the record and to keep the connection. */
const BODY_WITHIN_MS = 1000;
const BODY_LIMIT_BYTES = 64 * 1024;
const KEPT_BYTES = 1024;
/** The longest that a try can last. */
export const LONGEST_TRY_MS = HEADERS_WITHIN_MS + BODY_WITHIN_MS;

export type PostResult =
  | { kind: 'answered'; status: number; answer: string }
  | { kind: 'unanswered'; error: string };

export interface WebhookSender {
  post(url: string, headers: Record<string, string>, body: string): Promise<PostResult>;
  close(): Promise<void>;
}

export interface SenderOptions {
  allowPrivateNetworks: boolean;
  resolve?: Resolve;
}

export function createWebhookSender({ allowPrivateNetworks, resolve }: SenderOptions): WebhookSender {
  const agent = new Agent({
    connect: { lookup: publicLookup(allowPrivateNetworks, resolve), timeout: HEADERS_WITHIN_MS },
    headersTimeout: 0, // One timer over the whole try, below.
    bodyTimeout: 0,
  });
  return {
    async post(url, headers, body) {
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort(new Error('timeout')), HEADERS_WITHIN_MS);
      try {
        const target = new URL(url);
        if (!allowPrivateNetworks) assertPublicHost(target);
        const { statusCode, body: answer } = await request(target, {
          dispatcher: agent,
          method: 'POST',
          headers,
          body,
          signal: abort.signal,
        });
        clearTimeout(timer);
        return { kind: 'answered', status: statusCode, answer: await readStart(answer) };
      } catch (error) {
        return { kind: 'unanswered', error: nameOf(error) };
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}

/** A body that is not over in time or size is cut off, and its connection with it. */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), BODY_WITHIN_MS);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (bytes < KEPT_BYTES) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > BODY_LIMIT_BYTES) break;
    }
  } catch {
    // It broke off, or was cut off: what came of it is kept.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  // Postgres keeps no U+0000.
  return Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8').replaceAll('\0', '');
}

/** A short name, without addresses: `timeout`, `ECONNREFUSED`, `ENOTPUBLIC`, … */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.message === 'timeout') return 'timeout';
  const code =
    Reflect.get(error, 'code') ?? (error.cause instanceof Error && Reflect.get(error.cause, 'code'));
  return typeof code === 'string' ? code : error.name;
}
