import { StringDecoder } from 'node:string_decoder';
import { buildConnector, type Dispatcher } from 'undici';
import {
  MAX_ANSWER_HEAD_BYTES,
  MAX_RECEIVER_ANSWER_BYTES,
  MAX_RECEIVER_ANSWER_PIECES,
  RECEIVER_HEADERS_WITHIN_MS,
} from '../../shared/limits/bounds.js';
import { openOutgoing } from '../../shared/outgoing/outgoing-agent.js';
import { assertPublicHost, publicLookup, type Resolve } from '../../shared/values/public-address.js';
import { watchKeptConnections } from './kept-connections.js';
import { type Answer, postOnce } from './post-once.js';

const BOUNDS = { bodyBytes: MAX_RECEIVER_ANSWER_BYTES, pieces: MAX_RECEIVER_ANSWER_PIECES };
/** Tabs and line feeds are kept. */
const CONTROL_CHARACTERS = /[^\P{Cc}\t\n]/gu;
/** Debugging pages of receivers print them as text, in JSON or in a URL. */
const SECRETS_AND_SIGNATURES = /(whsec_|v1(?:[=,]|%3D|%2C))(?:[\w+/=\\]|%2B|%2F|%3D|%5C){8,}/gi;

export type PostResult =
  | {
      kind: 'answered';
      status: number;
      answer: string;
      /** The body was too long, too slow or in too many pieces, or its connection broke. */
      isCutOff?: true;
    }
  | { kind: 'unanswered'; error: string };

/** Whether the receiver has taken the webhook. */
export const isSuccess = (result: PostResult): boolean =>
  result.kind === 'answered' && result.status >= 200 && result.status < 300;

export interface WebhookSender {
  post(url: string, headers: Record<string, string>, body: Uint8Array): Promise<PostResult>;
  close(): Promise<void>;
}

export interface SenderOptions {
  allowPrivateNetworks: boolean;
  resolve?: Resolve;
  headersWithinMs?: number;
}

export function createWebhookSender({
  allowPrivateNetworks,
  resolve,
  headersWithinMs = RECEIVER_HEADERS_WITHIN_MS,
}: SenderOptions): WebhookSender {
  const keptConnections = watchKeptConnections(
    buildConnector({ lookup: publicLookup(allowPrivateNetworks, resolve), timeout: headersWithinMs }),
  );
  const options = {
    connect: keptConnections.connect,
    maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
    headersTimeout: 0, // postOnce has one timer for the whole try.
    bodyTimeout: 0,
  };
  const keeping = openOutgoing(BOUNDS, options);
  const withoutKeepAlive = openOutgoing(BOUNDS, { ...options, pipelining: 0 });
  return {
    async post(url, headers, body) {
      const startedAt = performance.now();
      try {
        const target = new URL(url);
        if (!allowPrivateNetworks) assertPublicHost(target);
        const { origin, pathname, search } = target;
        const request = { origin, path: pathname + search, method: 'POST', headers, body };
        const send = (dispatcher: Dispatcher): Promise<Answer> =>
          postOnce(dispatcher, request, Math.ceil(startedAt + headersWithinMs - performance.now()));
        const { status, start, isCutOff } = await send(keeping.dispatcher).catch((error: unknown) => {
          if (keptConnections.hadClosed(error)) return send(withoutKeepAlive.dispatcher);
          throw error;
        });
        return { kind: 'answered', status, answer: readable(start), ...(isCutOff && { isCutOff }) };
      } catch (error) {
        return { kind: 'unanswered', error: nameOf(error) };
      }
    },
    async close() {
      keptConnections.close();
      await Promise.all([keeping.destroy(), withoutKeepAlive.destroy()]);
    },
  };
}

/**
 * The decoder leaves out a character of which only some bytes were kept. Control characters are removed, since Postgres
 * refuses U+0000. Secrets are removed, since a receiver may repeat them and people read the answer.
 */
function readable(start: Buffer): string {
  const text = new StringDecoder('utf8').write(start);
  return text.replaceAll(CONTROL_CHARACTERS, '').replaceAll(SECRETS_AND_SIGNATURES, '$1…');
}

/** A short name, without addresses: `timeout`, `ECONNREFUSED`, `ENOTPUBLIC`, … */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.message === 'timeout') return 'timeout';
  const code =
    Reflect.get(error, 'code') ?? (error.cause instanceof Error && Reflect.get(error.cause, 'code'));
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout'; // Undici's connect timer may end first.
  return typeof code === 'string' ? code : error.name;
}
