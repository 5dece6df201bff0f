import { now, nowMs } from '../../shared/clock.js';
import type { Channel } from '../../shared/domain/payment.js';
import type { Payment } from '../../shared/models/payment.js';
import {
  findLinkedSession,
  findNamedPayment,
  findPayment,
  type LinkedSession,
  markAnsweredProcessing,
} from '../../shared/services/payments/read-link.js';
import { describeFailure } from '../../shared/x402/failure-codes.js';
import type { WellFormedHeader } from '../../shared/x402/headers.js';
import type { Offer } from '../../shared/x402/match-payment.js';
import type { SettlementResponse } from '../../shared/x402/wire.js';
import type { Deps } from '../deps.js';
import { alreadyPaid, busy, identifierReused, type LinkAnswer, refuse, signatureUsed } from './answer.js';
import { askForPayment, readOffer } from './offer.js';
import { paying } from './paying.js';
import { receiptExtension } from './signed-receipts.js';

export interface LinkVisit {
  /** Undefined when nothing is paid with this request. */
  header: WellFormedHeader | undefined;
  channel: Channel;
  arrivedAtMs: number;
  /** Follows what is paid with this request into the workers' log. */
  requestId?: string;
}

/** A payment's lines name the request that it came with. */
export function followedBy(deps: Deps, requestId: string): Deps {
  return { ...deps, logger: deps.logger.child({ request_id: requestId }) };
}

/** One request to an existing link: by the session's state, and by whether it pays. */
export async function serveLink(deps: Deps, session: LinkedSession, visit: LinkVisit): Promise<LinkAnswer> {
  const settled = await answerByState(deps, session, visit);
  if (settled !== undefined) return settled;
  const offer = await readOffer(deps, session);
  if ('kind' in offer) return offer;
  if (visit.header === undefined) return await askForPayment(linkDeps(deps), session, offer);
  return await pay(deps, session, offer, visit.header, visit);
}

/** Undefined when the session is open and can be paid. */
async function answerByState(
  deps: Deps,
  session: LinkedSession,
  visit: LinkVisit,
): Promise<LinkAnswer | undefined> {
  const { payment } = session;
  const { header } = visit;
  switch (session.status) {
    case 'open':
      return session.expiresAt <= now() ? expired() : undefined;
    case 'expired':
      return expired();
    case 'processing':
      if (header === undefined) return stillProcessing();
      if (payment === null || !(await isRepetition(header, payment)))
        return { kind: 'processing', status: 409 };
      return await awaitOutcome(deps, session.id, payment.id, visit);
    case 'complete': {
      if (payment === null) throw new Error(`${session.id} is complete without a payment`);
      if (header === undefined || (await isRepetition(header, payment)))
        return await paid(deps, session, payment);
      const { isSamePayment } = await paying();
      return isSamePayment(header, payment)
        ? alreadyPaid(await receiptOf(deps, session, payment))
        : alreadyPaid();
    }
  }
}

async function pay(
  deps: Deps,
  session: LinkedSession,
  offer: Offer,
  header: WellFormedHeader,
  visit: LinkVisit,
): Promise<LinkAnswer> {
  const { acceptPayment } = await paying();
  const acceptance = await acceptPayment(deps, session, offer, header, visit);
  switch (acceptance.kind) {
    case 'refused':
      return await askForPayment(linkDeps(deps), session, offer, acceptance.failure);
    case 'used_before':
      return await afterLosing(deps, session.id, header, visit);
    case 'lost':
      return await afterLosing(deps, session.id, header, visit);
    case 'unclear':
      return stillProcessing();
    case 'unavailable':
      return busy();
    case 'claimed':
      return await awaitOutcome(deps, session.id, acceptance.paymentId, visit, offer);
  }
}

/** The session is read again: what it has become says why it could not be claimed. */
async function afterLosing(
  deps: Deps,
  sessionId: string,
  header: WellFormedHeader,
  visit: LinkVisit,
): Promise<LinkAnswer> {
  const session = await findLinkedSession(deps.db, sessionId);
  const settled = session && (await answerByState(deps, session, visit));
  if (settled !== undefined) return settled;
  const named =
    header.kind === 'v2' && header.identifier !== undefined
      ? await findNamedPayment(deps.db, sessionId, header.identifier)
      : undefined;
  if (named === undefined) return signatureUsed();
  return (await isRepetition(header, named))
    ? await answerOutcome(deps, sessionId, named.id, undefined)
    : identifierReused();
}

/**
 * A buyer that has named its payment may send it again whenever an answer was lost, and is answered as it was or would
 * have been; one that has not hears that it was sent before.
 */
async function isRepetition(header: WellFormedHeader, payment: Payment): Promise<boolean> {
  const isNamed = header.kind === 'v2' && header.identifier !== undefined;
  if (!isNamed || header.identifier !== payment.identifier) return false;
  const { isSamePayment } = await paying();
  return isSamePayment(header, payment);
}

async function awaitOutcome(
  deps: Deps,
  sessionId: string,
  paymentId: string,
  visit: LinkVisit,
  offer?: Offer,
): Promise<LinkAnswer> {
  const { settleWaitMs } = deps.config;
  await deps.settlements.wait(paymentId, visit.arrivedAtMs + settleWaitMs - nowMs());
  const answer = await answerOutcome(deps, sessionId, paymentId, offer);
  // Who waits for nothing is answered the same, however fast it was paid.
  return settleWaitMs === 0 && answer.kind === 'paid' ? stillProcessing() : answer;
}

/** The claim stands whatever happens to this request: what cannot be read now is answered 202. */
async function answerOutcome(
  deps: Deps,
  sessionId: string,
  paymentId: string,
  offer: Offer | undefined,
): Promise<LinkAnswer> {
  try {
    const session = await findLinkedSession(deps.db, sessionId);
    if (session === undefined) return stillProcessing();
    const holds = session.paymentId === paymentId && session.payment?.status === 'processing';
    if (holds && (await markAnsweredProcessing(deps.db, paymentId))) return stillProcessing();
    // Decided between the two statements: everything is read again.
    if (holds) return await answerOutcome(deps, sessionId, paymentId, offer);
    const payment =
      session.payment?.id === paymentId ? session.payment : await findPayment(deps.db, paymentId);
    if (payment?.status === 'failed') return await answerFailure(deps, session, payment, offer);
    if (payment?.status !== 'succeeded') return stillProcessing();
    return await paid(deps, session, payment);
  } catch (error) {
    deps.logger.warn({ event: 'payment_link.outcome_unread', payment: paymentId, err: error });
    return stillProcessing();
  }
}

function stillProcessing(): LinkAnswer {
  return { kind: 'processing', status: 202 };
}

async function answerFailure(
  deps: Deps,
  session: LinkedSession,
  payment: Payment,
  known: Offer | undefined,
): Promise<LinkAnswer> {
  const code = payment.failureCode ?? 'payment_failed';
  if (code === 'payment_service_unavailable') return busy();
  if (code === 'session_already_paid' || session.status === 'complete') return alreadyPaid();
  const offer = known ?? (await readOffer(deps, session));
  if ('kind' in offer) return offer;
  const failure = { code, message: describeFailure(code).message };
  const answer = await askForPayment(linkDeps(deps), session, offer, failure);
  const failed: SettlementResponse = {
    success: false,
    errorReason: code,
    transaction: '',
    network: payment.network,
    ...(payment.payer !== null && { payer: payment.payer }),
  };
  return answer.kind === 'payment_required' ? { ...answer, failed } : answer;
}

async function paid(deps: Deps, session: LinkedSession, payment: Payment): Promise<LinkAnswer> {
  return { kind: 'paid', receipt: await receiptOf(deps, session, payment), session };
}

async function receiptOf(
  { receipts }: Deps,
  session: LinkedSession,
  payment: Payment,
): Promise<SettlementResponse> {
  const signed = await receipts.sign(session.id, payment);
  return {
    success: true,
    transaction: payment.transaction ?? '',
    network: payment.network,
    payer: payment.payer ?? '',
    ...(signed !== undefined && { extensions: { 'offer-receipt': receiptExtension(signed) } }),
  };
}

function expired(): LinkAnswer {
  return refuse(
    'session_expired',
    'This session has expired and can no longer be paid. Ask the merchant for a new link.',
  );
}

function linkDeps({ db, config }: Deps): { db: Deps['db']; baseUrl: string } {
  return { db, baseUrl: config.baseUrl };
}
