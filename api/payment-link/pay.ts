import { Busy } from '../../shared/db/busy.js';
import { findNamedPayment, listFailed, listUncertainOrSurplus } from '../../shared/payments/find.js';
import type { Payment } from '../../shared/payments/model.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { now, nowMs } from '../../shared/process/clock.js';
import { waitAtMost } from '../../shared/process/timeout.js';
import { findLinkedPayable, findLinkState, type LinkedPayable } from '../../shared/settlement/read-link.js';
import { LEAST_CALL_MS } from '../../shared/x402/facilitator/facilitator.js';
import type { WellFormedHeader } from '../../shared/x402/headers.js';
import { isSamePayment, type Offer } from '../../shared/x402/match-payment.js';
import { acceptPayment, identifierOf, type SentPayment } from './accept-payment.js';
import { failureOf, type LinkFailure, uncertainFailure } from './earlier-failure.js';
import {
  alreadyPaid,
  busy,
  expired,
  identifierReused,
  type LinkAnswer,
  sellerRefused,
  signatureUsed,
  stillProcessing,
} from './link-answer.js';
import type { LinkDeps } from './link-deps.js';
import { askForPayment, readOffer } from './offer.js';
import { answerOutcome, awaitOutcome } from './outcome.js';
import { paid, paymentOf, receiptOf } from './receipt.js';

/** Pays an open session. For any other status, the payload may belong to the payment that holds or paid the session. */
export async function pay(deps: LinkDeps, session: LinkedPayable, sent: SentPayment): Promise<LinkAnswer> {
  const logged = { ...deps, logger: deps.logger.child({ request_id: sent.requestId }) };
  try {
    return (await answerUnlessPayable(logged, session, sent)) ?? (await payOpen(logged, session, sent));
  } catch (error) {
    // Nothing is claimed when this error is thrown: a claim whose outcome cannot be read is answered as in progress.
    if (error instanceof Busy) return busy();
    throw error;
  }
}

/** Undefined when the session is open and can be paid. */
async function answerUnlessPayable(
  deps: LinkDeps,
  session: LinkedPayable,
  { header, arrivedAtMs }: SentPayment,
): Promise<LinkAnswer | undefined> {
  switch (session.status) {
    case 'open':
      return session.expiresAt <= now() ? expired(session, await failureBeforeEnd(deps, session)) : undefined;
    case 'expired':
      return expired(session, await failureBeforeEnd(deps, session));
    case 'processing': {
      const { id: sessionId, payment } = session;
      if (payment === null || !isRepetition(header, payment)) return { kind: 'processing', status: 409 };
      return await awaitOutcome(deps, { sessionId, paymentId: payment.id }, arrivedAtMs);
    }
    case 'complete': {
      const payment = paymentOf(session);
      if (isRepetition(header, payment)) return paid(deps, session);
      return isSamePayment(header, payment) ? alreadyPaid(receiptOf(deps, session, payment)) : alreadyPaid();
    }
  }
}

/**
 * The last payment of an expired session, when its outcome is unknown. While commits may have been lost, so is that of the
 * payment that is sent: Postgres may have forgotten that it came before the end.
 */
async function failureBeforeEnd(
  { db, commits }: LinkDeps,
  session: LinkedPayable,
): Promise<LinkFailure | undefined> {
  const failure = await uncertainFailure(db, session);
  return failure ?? (commits.mayHaveLost() ? failureOf({ failureCode: OUTCOME_UNKNOWN }) : undefined);
}

/** SETTLE_WAIT_MS bounds the wait for `/supported`, too. */
async function offerInTime(
  deps: LinkDeps,
  session: LinkedPayable,
  { arrivedAtMs }: SentPayment,
): Promise<Offer | LinkAnswer> {
  const { settleWaitMs } = deps.config;
  const reading = readOffer(deps, session);
  if (settleWaitMs === 0) return await reading;
  const leftMs = Math.max(LEAST_CALL_MS, arrivedAtMs + settleWaitMs - nowMs());
  return (await waitAtMost(leftMs, reading)) ? await reading : busy();
}

async function payOpen(deps: LinkDeps, session: LinkedPayable, sent: SentPayment): Promise<LinkAnswer> {
  const offer = await offerInTime(deps, session, sent);
  if ('kind' in offer) return offer;
  const acceptance = await acceptPayment(deps, session, offer, sent);
  switch (acceptance.kind) {
    case 'refused': {
      const failure = (await uncertainUse(deps, session.id, sent.header)) ?? acceptance.failure;
      return sellerRefused(failure) ?? (await askForPayment(deps, session, offer, failure));
    }
    case 'used_before':
    case 'lost':
      return await afterLosing(deps, session.id, sent);
    case 'unclear':
      return stillProcessing();
    case 'unavailable':
      return busy(acceptance.forMs);
    case 'claimed': {
      const { paymentId } = acceptance;
      return await awaitOutcome(deps, { sessionId: session.id, paymentId, offer }, sent.arrivedAtMs);
    }
  }
}

/** Reads the session again: its new status says why the claim failed. */
async function afterLosing(deps: LinkDeps, sessionId: string, sent: SentPayment): Promise<LinkAnswer> {
  const session = await findLinkedPayable(deps.db, sessionId);
  const answer = session && (await answerUnlessPayable(deps, session, sent));
  if (answer !== undefined) return answer;
  const { header } = sent;
  const identifier = identifierOf(header);
  const named = identifier === undefined ? undefined : await findNamedPayment(deps.db, sessionId, identifier);
  if (named === undefined) return signatureUsed(await uncertainUse(deps, sessionId, header));
  return isRepetition(header, named)
    ? await answerOutcome(deps, { sessionId, paymentId: named.id })
    : identifierReused();
}

/**
 * A payment with a `payment-identifier` may be sent again when its response was lost, and gets that response.
 * Without an identifier the response is 409.
 */
function isRepetition(header: WellFormedHeader, payment: Payment): boolean {
  const identifier = identifierOf(header);
  return identifier !== undefined && identifier === payment.identifier && isSamePayment(header, payment);
}

/** Whether this payment holds or paid the session: an earlier request with it had arrived. */
export async function isSessionsPayment(
  { db }: Pick<LinkDeps, 'db'>,
  sessionId: string,
  header: WellFormedHeader,
): Promise<boolean> {
  const session = await findLinkState(db, sessionId);
  return session?.payment != null && isSamePayment(header, session.payment);
}

/**
 * The failure to report when an earlier payment of this session has this payload, and its outcome is unknown or it arrived
 * after another payment had paid. A refusal of the payload now proves nothing about the earlier payment.
 */
export async function uncertainUse(
  { db }: Pick<LinkDeps, 'db'>,
  sessionId: string,
  header: WellFormedHeader,
): Promise<LinkFailure | undefined> {
  const payments = await listUncertainOrSurplus(db, sessionId);
  const use = payments.find((payment) => isSamePayment(header, payment));
  return use && failureOf({ id: use.id, failureCode: OUTCOME_UNKNOWN });
}

/** The code of the certain failure of an earlier payment of this session with this payload. */
export async function failureCodeOfUse(
  { db }: Pick<LinkDeps, 'db'>,
  sessionId: string,
  header: WellFormedHeader,
): Promise<string | undefined> {
  const payments = await listFailed(db, sessionId);
  return payments.find((payment) => isSamePayment(header, payment))?.failureCode ?? undefined;
}
