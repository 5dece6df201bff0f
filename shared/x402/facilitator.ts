import { Agent } from 'undici';
import type { FacilitatorConfig } from '../config/config.js';
import { openRateLimiter } from '../limits/rate-limiter.js';
import { openThrottle, type Throttle } from '../limits/throttle.js';
import type { Logger } from '../process/logger.js';
import { inSpan } from '../tracing/spans.js';
import { exchange } from './exchange.js';
import {
  type FacilitatorReply,
  NotAsked,
  readSettleAnswer,
  readVerifyAnswer,
  type VerifyVerdict,
} from './facilitator-answers.js';
import { createTokenSource } from './facilitator-auth.js';
import { rememberSupported } from './remember-supported.js';
import type { SupportedKinds } from './requirements.js';
import { pauseAskedFor } from './retry-after.js';
import type { SettleVerdict } from './settle-verdict.js';
import type { FacilitatorRequest } from './wire.js';

/**
 * The facilitator over keep-alive connections. No call here throws: every way it can go is a value. What it can settle
 * is remembered: a copy under a minute old is used as it is, one up to ten minutes old while it does not answer.
 */
export interface Facilitator {
  /** Undefined when it cannot be reached and no copy is young enough. */
  supported(): Promise<SupportedKinds | undefined>;
  /** `usefulForMs`: how long the caller can use an answer. The wait for a turn is bounded in any case. */
  verify(payment: FacilitatorRequest, usefulForMs?: number): Promise<VerifyVerdict>;
  /** Sent when its turn has come, if it may be sent then. */
  settle(payment: FacilitatorRequest, mayBeSent?: () => boolean): Promise<SettleVerdict>;
  close(): Promise<void>;
}

const MAX_ANSWER_BYTES = 256 * 1024;
/** Connections of one process, where FACILITATOR_MAX_CONNECTIONS is not set. */
export const CONNECTIONS = 128;
/** How long a call waits until it may be sent. A verification gives up earlier than a settlement, and leaves it the turn. */
const VERIFY_TURN_WITHIN_MS = 5000;
const SETTLE_TURN_WITHIN_MS = 15_000;
/**
 * How long a connection is kept where the facilitator does not say so: less than the usual five seconds, since a call on a
 * connection that is being closed is lost, and a lost /settle has to be looked for on the chain.
 */
const KEPT_MS = 4000;

const FACILITATOR = { 'peer.service': 'facilitator' };

interface FacilitatorOptions {
  /** Calls wait here until they may be sent: a call that waited for a connection would use up its time. */
  throttle?: Throttle;
  /** Gets a line when the supported kinds cannot be read. */
  logger?: Logger;
}

export function createFacilitator(
  config: FacilitatorConfig,
  { throttle, logger }: FacilitatorOptions = {},
): Facilitator {
  const { maxConnections } = config;
  const connections = maxConnections ?? CONNECTIONS;
  const calls = throttle ?? openThrottle({ rate: openRateLimiter(() => 0), slots: () => connections });
  const agent = new Agent({
    connections,
    keepAliveTimeout: KEPT_MS,
    // When the process's share of connections falls, surplus ones end soon, whatever the facilitator says.
    ...(maxConnections !== undefined && { keepAliveMaxTimeout: KEPT_MS }),
    connect: { timeout: config.timeoutMs },
    // Each call has its own time as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const token = config.key && createTokenSource(config.key);
  const supported = rememberSupported(
    () => ask({ method: 'GET', path: '/supported' }, VERIFY_TURN_WITHIN_MS),
    logger,
  );

  async function ask(call: Call, waitsMs: number, mayBeSent = () => true): Promise<FacilitatorReply> {
    const entry = await calls.enter(waitsMs);
    if (entry.kind === 'refused') return { error: new NotAsked(entry.retryAfterMs) };
    try {
      if (!mayBeSent()) return { error: new NotAsked(0) };
      const reply = await sendTraced(call);
      if ('status' in reply) obey(reply);
      return reply;
    } finally {
      // By then undici has the connection back; a call that entered earlier would open another one.
      setImmediate(entry.release);
    }
  }

  async function sendTraced(call: Call): Promise<FacilitatorReply> {
    const name = `${call.method} ${call.path}`;
    return await inSpan({ name, kind: 'client', attributes: FACILITATOR }, async (span) => {
      const reply = await send(call);
      if ('status' in reply) span.set({ 'http.response.status_code': reply.status });
      else span.fail(reply.error instanceof Error ? reply.error.name : 'unknown');
      return reply;
    });
  }

  async function send({ method, path, body, timeoutMs = config.timeoutMs }: Call): Promise<FacilitatorReply> {
    try {
      const { origin, pathname, search } = new URL(`${config.url}${path}`);
      const request = {
        origin,
        method,
        path: pathname + search,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${await token()}` }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      };
      return await exchange(agent, request, { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES });
    } catch (error) {
      return { error };
    }
  }

  function obey(reply: Extract<FacilitatorReply, { status: number }>): void {
    const pauseMs = pauseAskedFor(reply);
    if (pauseMs === undefined) return;
    calls.pause(pauseMs);
    logger?.warn({ event: 'facilitator.asked_to_wait', status: reply.status, seconds: pauseMs / 1000 });
  }

  return {
    supported,
    async verify(body, usefulForMs = VERIFY_TURN_WITHIN_MS) {
      const waitsMs = Math.max(0, Math.min(VERIFY_TURN_WITHIN_MS, usefulForMs));
      return readVerifyAnswer(await ask({ method: 'POST', path: '/verify', body }, waitsMs));
    },
    async settle(body, mayBeSent) {
      const call: Call = { method: 'POST', path: '/settle', body, timeoutMs: config.settleTimeoutMs };
      const reply = await ask(call, SETTLE_TURN_WITHIN_MS, mayBeSent);
      return readSettleAnswer(reply, body.paymentRequirements.network);
    },
    async close() {
      calls.close();
      await agent.destroy();
    },
  };
}

interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: FacilitatorRequest;
  timeoutMs?: number;
}
