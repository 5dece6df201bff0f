import { nowMs } from '../../../shared/process/clock.js';
import { pick, type Random } from '../../world/chance/seeded-random.js';
import type { Answer } from '../journals/entries.js';

interface ServiceClientOptions {
  webs: readonly Web[];
  random: Random;
  write(answer: Answer): void;
}

export interface Web {
  name: string;
  url: string;
}

export interface Reply {
  status: number;
  code: string | undefined;
  body: Record<string, unknown>;
  retryAfterMs: number;
  /** The request was given up: the service may still be processing it. */
  mayContinue: boolean;
}

type About = Pick<Answer, 'request' | 'sessionId' | 'nonce'>;

const TIMEOUT_MS = 25_000;
const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 2000;

/** Sends requests to one of the web processes, like a router without health checks, and records each answer. */
export class ServiceClient {
  readonly #options: ServiceClientOptions;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
  }

  async send(path: string, init: RequestInit, about: About): Promise<Reply> {
    const at = nowMs();
    const { name: web, url } = pick(this.#options.random, this.#options.webs);
    try {
      const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
      const body = parse(await response.text());
      const { status, headers } = response;
      const code = codeOf(body);
      const requestId = headers.get('request-id') ?? undefined;
      this.#options.write({ kind: 'answer', at, ms: nowMs() - at, ...about, web, status, code, requestId });
      const retryAfterMs = 1000 * Number(headers.get('retry-after') ?? 0);
      return { status, code, body, retryAfterMs: bounded(retryAfterMs), mayContinue: false };
    } catch (error) {
      const code = nameOf(error);
      this.#options.write({ kind: 'answer', at, ms: nowMs() - at, ...about, web, status: 0, code });
      return {
        status: 0,
        code,
        body: {},
        retryAfterMs: bounded(1000),
        mayContinue: code === 'TimeoutError',
      };
    }
  }
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** A 402 has the code at the top level, other errors below `error`. */
function codeOf(body: Record<string, unknown>): string | undefined {
  const { code, error } = body;
  if (typeof code === 'string') return code;
  const nested = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof nested === 'string' ? nested : undefined;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const cause = error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : '';
  return cause === '' ? error.name : cause;
}
