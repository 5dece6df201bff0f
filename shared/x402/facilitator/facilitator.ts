import { buildConnector } from 'undici';
import type { FacilitatorConfig } from '../../config/read-facilitators.js';
import type { About } from '../../limits/account-pauses.js';
import { MAX_ANSWER_PIECES, MAX_FACILITATOR_ANSWER_BYTES } from '../../limits/bounds.js';
import { openRateLimiter } from '../../limits/rate-limiter.js';
import { openThrottle, type Throttle } from '../../limits/throttle.js';
import { exchange } from '../../outgoing/exchange.js';
import { lookupOnce } from '../../outgoing/lookup-once.js';
import { type Outgoing, openOutgoing } from '../../outgoing/outgoing-agent.js';
import type { Logger } from '../../process/logger.js';
import { inSpan } from '../../tracing/spans.js';
import type { SupportedKinds } from '../requirements.js';
import type { FacilitatorRequest } from '../wire.js';
import { cacheSupported } from './cache-supported.js';
import { countRefusals, type Refusals } from './count-refusals.js';
import {
  type FacilitatorReply,
  NotSent,
  pauseAskedFor,
  readSettleAnswer,
  readVerifyAnswer,
  type VerifyVerdict,
} from './facilitator-answers.js';
import { createTokenSource } from './facilitator-auth.js';
import type { SettleVerdict } from './settle-verdict.js';

/**
 * The facilitator over keep-alive connections. No call throws: every outcome is a value. The supported kinds are cached
 * for a minute, and for up to ten minutes while the facilitator does not answer.
 */
export interface Facilitator {
  /** Its short name. */
  name: string;
  /** Its short name under these settings and others. */
  names: readonly string[];
  /** Undefined when the facilitator does not answer and no usable copy is cached. */
  supported(): Promise<SupportedKinds | undefined>;
  /** The usable copy, without a call. */
  known(): SupportedKinds | undefined;
  /** Whether its last call of `/supported` failed, or a running one is slow. */
  isSilent(): boolean;
  /** `usefulForMs`: how long the caller can use an answer. The wait for a turn has its own limit too. */
  verify(payment: FacilitatorRequest, usefulForMs?: number): Promise<VerifyVerdict>;
  /** `mayBeSent` is asked when the call's turn has come. */
  settle(payment: FacilitatorRequest, mayBeSent?: () => boolean): Promise<SettleVerdict>;
  /** How often it refused a payment because of the buyer's wallet, or because of the seller. */
  refusals: Refusals;
  close(): Promise<void>;
}

const BOUNDS = { bodyBytes: MAX_FACILITATOR_ANSWER_BYTES, pieces: MAX_ANSWER_PIECES };
/** Connections of one process when FACILITATOR_MAX_CONNECTIONS is not set. */
export const CONNECTIONS = 128;
/** Limits of the wait for a turn. Verifications give up earlier and leave the turns to settlements. */
const VERIFY_TURN_WITHIN_MS = 5000;
/** A call that is nearly too late still gets an answer from a facilitator that is quick. */
export const LEAST_CALL_MS = 1000;
const SETTLE_TURN_WITHIN_MS = 15_000;
const SETTLE_PAUSE_WITHIN_MS = 500;
/**
 * How long an idle connection is kept when the facilitator names no keep-alive time: less than the usual five seconds, since
 * a call on a connection that is being closed is lost, and only the chain can tell the outcome of a lost /settle.
 */
const KEPT_MS = 4000;

const NONE_SERVES = 'No link can be paid: each answers 503.';
const OTHERS_SERVE = 'Links offer what the other facilitators serve.';

interface FacilitatorOptions {
  /** Calls wait here and not for a connection, where the wait would count against their timeout. */
  throttle?: Throttle;
  logger?: Logger;
  /** Whether other facilitators are configured. */
  hasOthers?: boolean;
}

export function createFacilitator(
  config: FacilitatorConfig,
  { throttle, logger, hasOthers = false }: FacilitatorOptions = {},
): Facilitator {
  const { name, maxConnections } = config;
  const connections = maxConnections ?? CONNECTIONS;
  const calls = throttle ?? openThrottle({ rate: openRateLimiter(() => 0), slots: () => connections });
  const { dispatcher, destroy } = openConnections(config, connections);
  const tokenOf = createTokenSource(config.auth);
  const { refusals, note } = countRefusals(name, logger);
  const supported = cacheSupported(() => ask({ method: 'GET', path: '/supported' }, VERIFY_TURN_WITHIN_MS), {
    logger,
    name,
    hint: `${hasOthers ? OTHERS_SERVE : NONE_SERVES} Look at ${config.variable}.`,
  });

  async function ask(call: Call, waitsMs: number, mayBeSent = () => true): Promise<FacilitatorReply> {
    const entry = await calls.enter(waitsMs, subjectOf(call), pausePatience(call));
    if (entry.kind === 'refused') return { error: new NotSent(entry.retryAfterMs) };
    try {
      if (!mayBeSent()) return { error: new NotSent(0) };
      const reply = await sendTraced(call);
      if ('status' in reply) pauseIfAsked(reply, call);
      return reply;
    } finally {
      // undici frees the connection one turn later; a call released now would open another connection.
      setImmediate(entry.release);
    }
  }

  async function sendTraced(call: Call): Promise<FacilitatorReply> {
    const attributes = { 'peer.service': 'facilitator', 'checkout.facilitator': name };
    return await inSpan({ name: `${call.method} ${call.path}`, kind: 'client', attributes }, async (span) => {
      const reply = await send({ config, dispatcher, tokenOf }, call);
      if ('status' in reply) span.set({ 'http.response.status_code': reply.status });
      else span.fail(reply.error instanceof Error ? reply.error.name : 'unknown');
      return reply;
    });
  }

  function pauseIfAsked({ status, retryAfter }: Answered, call: Call): void {
    const pauseMs = pauseAskedFor({ status, retryAfter });
    if (pauseMs === undefined) return;
    const about = subjectOf(call);
    // A 429 is about all calls; a 503 may be about this payment alone, as when its wallet's contract cannot be simulated.
    if (status === 503 && about !== undefined) calls.pauseAccount(pauseMs, about, payerOf(call));
    else calls.pause(pauseMs, about?.network);
    const seconds = pauseMs / 1000;
    const { network, account: pay_to } = about ?? {};
    logger?.warn({ event: 'facilitator.asked_to_wait', facilitator: name, network, pay_to, status, seconds });
  }

  return {
    name,
    names: config.names ?? [name],
    supported: supported.read,
    known: supported.known,
    isSilent: supported.isSilent,
    refusals,
    async verify(body, usefulForMs = Number.POSITIVE_INFINITY) {
      const waitsMs = Math.max(0, Math.min(VERIFY_TURN_WITHIN_MS, usefulForMs));
      const usefulUntil = performance.now() + usefulForMs;
      return note(
        readVerifyAnswer(await ask({ method: 'POST', path: '/verify', body, usefulUntil }, waitsMs)),
        body,
      );
    },
    async settle(body, mayBeSent) {
      const call: Call = { method: 'POST', path: '/settle', body, timeoutMs: config.settleTimeoutMs };
      const reply = await ask(call, SETTLE_TURN_WITHIN_MS, mayBeSent);
      return note(readSettleAnswer(reply, body.paymentRequirements.network), body);
    },
    async close() {
      calls.close();
      await destroy();
    },
  };
}

function timeoutOf({ timeoutMs, usefulUntil = Number.POSITIVE_INFINITY }: Call, defaultMs: number): number {
  return Math.min(timeoutMs ?? defaultMs, Math.max(LEAST_CALL_MS, usefulUntil - performance.now()));
}

interface Sending {
  config: FacilitatorConfig;
  dispatcher: Outgoing['dispatcher'];
  tokenOf: ReturnType<typeof createTokenSource>;
}

/** Sends one call. What went wrong is part of the reply. */
async function send({ config, dispatcher, tokenOf }: Sending, call: Call): Promise<FacilitatorReply> {
  const { method, path, body } = call;
  const timeoutMs = timeoutOf(call, config.timeoutMs);
  try {
    const url = new URL(`${config.url}${path}`);
    const token = await tokenOf({ method, url });
    const request = {
      origin: url.origin,
      method,
      path: url.pathname + url.search,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    };
    const terms = { timeoutMs, maxAnswerBytes: MAX_FACILITATOR_ANSWER_BYTES };
    const answer = await exchange(dispatcher, request, terms);
    const retryAfter = answer.header('retry-after');
    return { status: answer.status, retryAfter, body: answer.body.toString('utf8') };
  } catch (error) {
    return { error };
  }
}

function openConnections({ maxConnections, timeoutMs }: FacilitatorConfig, connections: number): Outgoing {
  return openOutgoing(BOUNDS, {
    connections,
    keepAliveTimeout: KEPT_MS,
    // When the process's share of connections falls, surplus ones close soon, whatever the facilitator's keep-alive time.
    ...(maxConnections !== undefined && { keepAliveMaxTimeout: KEPT_MS }),
    connect: buildConnector({ timeout: timeoutMs, lookup: lookupOnce }),
    // `exchange` limits each call as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Undefined for /supported, which is about all networks. */
function subjectOf({ body }: Call): About | undefined {
  if (body === undefined) return undefined;
  const { network, payTo } = body.paymentRequirements;
  return { network, account: payTo };
}

/** A Solana payload does not name its payer reliably: each transaction counts as another payer's. */
function payerOf({ body }: Call): string {
  const payload = body?.paymentPayload?.payload ?? { transaction: '' };
  return 'authorization' in payload ? payload.authorization.from : payload.transaction;
}

/**
 * The longest pause that a call waits for; undefined for the whole wait for a turn. A postponed /settle gives its slot in the
 * worker to other networks.
 */
function pausePatience({ path }: Call): number | undefined {
  return path === '/settle' ? SETTLE_PAUSE_WITHIN_MS : undefined;
}

type Answered = Extract<FacilitatorReply, { status: number }>;

interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: FacilitatorRequest;
  timeoutMs?: number;
  /** The time by the monotonic clock after which an answer is of no use. */
  usefulUntil?: number;
}
