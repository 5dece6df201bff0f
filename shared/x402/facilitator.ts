import { Agent } from 'undici';
import type { FacilitatorConfig } from '../config.js';
import type { SettleVerdict } from '../domain/settle-verdict.js';
import type { Logger } from '../logger.js';
import { inSpan } from '../tracing/spans.js';
import { exchange } from './exchange.js';
import {
  type FacilitatorReply,
  readSettleAnswer,
  readVerifyAnswer,
  type VerifyVerdict,
} from './facilitator-answers.js';
import { createTokenSource } from './facilitator-auth.js';
import { rememberSupported } from './remember-supported.js';
import type { SupportedKinds } from './requirements.js';
import type { FacilitatorRequest } from './wire.js';

/**
 * The facilitator over keep-alive connections. No call here throws: every way it can go is a value. What it can settle
 * is remembered: a copy under a minute old is used as it is, one up to ten minutes old while it does not answer.
 */
export interface Facilitator {
  /** Undefined when it cannot be reached and no copy is young enough. */
  supported(): Promise<SupportedKinds | undefined>;
  verify(payment: FacilitatorRequest): Promise<VerifyVerdict>;
  settle(payment: FacilitatorRequest): Promise<SettleVerdict>;
  close(): Promise<void>;
}

const MAX_ANSWER_BYTES = 256 * 1024;
/** At least: a call that waits for a connection uses up its time, and may then never have been sent. */
const CONNECTIONS = 128;
/**
 * Where the facilitator does not say how long it keeps a connection: less than the usual five seconds, since a call on
 * one that it is closing is lost, and a lost /settle has to be looked for on the chain.
 */
const KEPT_MS = 4000;

const FACILITATOR = { 'peer.service': 'facilitator' };

interface FacilitatorOptions {
  /** As many as there may be, each of which finds a connection. */
  callsAtOnce?: number;
  /** Is told why it does not say what it can settle. */
  logger?: Logger;
}

export function createFacilitator(
  config: FacilitatorConfig,
  { callsAtOnce = CONNECTIONS, logger }: FacilitatorOptions = {},
): Facilitator {
  const agent = new Agent({
    connections: Math.max(CONNECTIONS, callsAtOnce),
    keepAliveTimeout: KEPT_MS,
    connect: { timeout: config.timeoutMs },
    // Each call has its own time as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const token = config.key && createTokenSource(config.key);
  const supported = rememberSupported(() => call('GET', '/supported', undefined, config.timeoutMs), logger);

  async function call(
    method: 'GET' | 'POST',
    path: string,
    body: FacilitatorRequest | undefined,
    timeoutMs: number,
  ): Promise<FacilitatorReply> {
    const name = `${method} ${path}`;
    return await inSpan({ name, kind: 'client', attributes: FACILITATOR }, async (span) => {
      const reply = await send(method, path, body, timeoutMs);
      if ('status' in reply) span.say({ 'http.response.status_code': reply.status });
      else span.fail(reply.error instanceof Error ? reply.error.name : 'unknown');
      return reply;
    });
  }

  async function send(
    method: 'GET' | 'POST',
    path: string,
    body: FacilitatorRequest | undefined,
    timeoutMs: number,
  ): Promise<FacilitatorReply> {
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

  return {
    supported,
    async verify(payment) {
      return readVerifyAnswer(await call('POST', '/verify', payment, config.timeoutMs));
    },
    async settle(payment) {
      const reply = await call('POST', '/settle', payment, config.settleTimeoutMs);
      return readSettleAnswer(reply, payment.paymentRequirements.network);
    },
    close: () => agent.destroy(),
  };
}
