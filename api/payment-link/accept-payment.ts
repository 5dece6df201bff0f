import { findToken, SOLANA_LIFETIME_MS } from '../../shared/chains/networks/networks.js';
import { isPayloadUsed } from '../../shared/payments/find.js';
import type { Channel } from '../../shared/payments/states.js';
import { earlierNowMs, now, nowMs, times } from '../../shared/process/clock.js';
import { type Claim, ClaimNotMade, claimPayable, type NewPayment } from '../../shared/settlement/claim.js';
import { SETTLE_MARGIN_MS } from '../../shared/settlement/policy/limits.js';
import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { checkContent } from '../../shared/x402/check-content.js';
import type { Failure } from '../../shared/x402/failure-codes.js';
import type { WellFormedHeader } from '../../shared/x402/headers.js';
import { matchPayment, type Offer } from '../../shared/x402/match-payment.js';
import {
  buildFacilitatorRequest,
  endsAt,
  type PaymentProof,
  payer,
  payloadKey,
  toWirePayload,
} from '../../shared/x402/payload.js';
import { recoversToPayer } from '../../shared/x402/recovers-to-payer.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import { checkBeforeRefusal, type DoubtedRefusal } from './check-before-refusal.js';
import type { LinkDeps } from './link-deps.js';

/** A payment request at a link. */
export interface SentPayment {
  header: WellFormedHeader;
  channel: Channel;
  arrivedAtMs: number;
  /** The request id, logged with every step of the payment, in the workers too. */
  requestId: string;
}

type Acceptance =
  | { kind: 'claimed'; paymentId: string }
  | { kind: 'refused'; failure: Failure }
  | { kind: 'used_before' }
  /** Another payment claimed the session first, or the session expired meanwhile. */
  | { kind: 'lost' }
  /** It is unknown whether the claim was committed. */
  | { kind: 'unclear' }
  /** `forMs`: when to try again, if known. */
  | { kind: 'unavailable'; forMs?: number | undefined };

/**
 * The steps from payment header to claimed session: match an entry of `accepts`, check the content, check that the
 * payload is unused, `/verify`, claim. Nothing is written before the claim, so a refusal leaves the session open
 * and the signature unused.
 */
export async function acceptPayment(
  deps: LinkDeps,
  session: LinkedPayable,
  offer: Offer,
  sent: SentPayment,
): Promise<Acceptance> {
  const match = await matchPayment(sent.header, offer);
  if (!match.ok) return { kind: 'refused', failure: match };
  const { requirements, proof } = match;
  const contradiction = checkContent(proof, requirements, times());
  const isDoubted = contradiction?.code === WINDOW_OVER && deps.commits.mayHaveLost();
  if (contradiction !== undefined && !isDoubted) return { kind: 'refused', failure: contradiction };

  const key = payloadKey(requirements.network, requirements.asset, proof);
  if (await isPayloadUsed(deps.db, key, session.id)) return { kind: 'used_before' };
  const payment = { session, requirements, proof, key, sent };
  if (contradiction !== undefined)
    return await refuseUnlessPaid(deps, payment, { failure: contradiction, saysUsed: false });
  const verification = await verify(deps, payment);
  if (verification.kind === 'valid') return await claim(deps, payment, 'settle', verification.facilitator);
  if (verification.kind !== 'refused') return verification;
  // Another request may have used the payload while the facilitator verified it, which explains the refusal.
  if (await isPayloadUsed(deps.db, key, session.id)) return { kind: 'used_before' };
  if (!verification.mayMeanUsed && !deps.commits.mayHaveLost()) return verification;
  return await refuseUnlessPaid(deps, payment, verification);
}

/** The refusal of an authorization that has ended. Postgres may have forgotten a payment that used it before its end. */
const WINDOW_OVER = 'invalid_exact_evm_payload_authorization_valid_before';

/** The buyer's `payment-identifier`, if it sent one. */
export function identifierOf(header: WellFormedHeader): string | undefined {
  return header.kind === 'v2' ? header.identifier : undefined;
}

/** A payment that fits an entry of `accepts`. */
interface MatchedPayment {
  session: LinkedPayable;
  requirements: PaymentRequirements;
  proof: PaymentProof;
  key: string;
  sent: SentPayment;
}

type DoubtedFailure = Pick<DoubtedRefusal, 'failure' | 'saysUsed'> & {
  /** The facilitator that refused; undefined when none was asked. */
  facilitator?: string | undefined;
};

/** Claims the session for a payload that is refused although the chain proves that it has paid. */
async function refuseUnlessPaid(
  deps: LinkDeps,
  payment: MatchedPayment,
  { failure, saysUsed, facilitator }: DoubtedFailure,
): Promise<Acceptance> {
  const refusal = { ...payment, session: payment.session.id, failure, saysUsed };
  const found = await checkBeforeRefusal(deps, refusal);
  return found.kind === 'paid' ? await claim(deps, payment, 'confirm', facilitator) : found;
}

type Verification =
  | { kind: 'valid'; facilitator: string | undefined }
  | ({ kind: 'refused'; mayMeanUsed: boolean } & DoubtedFailure)
  | Extract<Acceptance, { kind: 'unavailable' }>;

async function verify(
  { facilitators, logger, config }: LinkDeps,
  { session: { id: session }, requirements, proof, sent }: MatchedPayment,
): Promise<Verification> {
  const asked = buildFacilitatorRequest(requirements, proof);
  const usefulForMs = usefulFor(config, proof, sent.arrivedAtMs);
  const { facilitator, ...verdict } = await facilitators.verify(asked, usefulForMs);
  switch (verdict.kind) {
    case 'valid':
      return { kind: 'valid', facilitator };
    case 'unavailable':
      logger.warn({ event: 'facilitator.unavailable', session, facilitator, why: verdict.why });
      return { kind: 'unavailable', forMs: verdict.forMs };
    case 'refused': {
      const { kind: _, mayMeanUsed, saysUsed, ...failure } = verdict;
      if (failure.class === 'setup')
        logger.error({ event: 'facilitator.refused_setup', session, facilitator, reason: failure.reason });
      const isFacilitatorsFault =
        failure.code === 'invalid_exact_evm_payload_signature' &&
        proof.family === 'evm' &&
        (await recoversToPayer(proof, requirements));
      if (!isFacilitatorsFault) return { kind: 'refused', failure, mayMeanUsed, saysUsed, facilitator };
      const { network } = requirements;
      logger.error({ event: 'facilitator.wrong_about_signature', session, facilitator, network });
      return { kind: 'unavailable' };
    }
  }
}

/**
 * How long to wait for a slot at the facilitator: until the payment could no longer be settled, or the request no longer be
 * answered in time.
 */
function usefulFor({ settleWaitMs }: LinkDeps['config'], proof: PaymentProof, arrivedAtMs: number): number {
  const settledBy = (endsAt(proof)?.getTime() ?? Number.POSITIVE_INFINITY) - SETTLE_MARGIN_MS;
  // SETTLE_WAIT_MS 0 turns off waiting for the settlement, not for `/verify`.
  const answeredBy = settleWaitMs === 0 ? Number.POSITIVE_INFINITY : arrivedAtMs + settleWaitMs;
  return Math.min(settledBy - earlierNowMs(), answeredBy - nowMs());
}

async function claim(
  { db, config, notifySettlement, notifyDeliveries, logger }: LinkDeps,
  matched: MatchedPayment,
  stage: NewPayment['stage'],
  facilitator: string | undefined,
): Promise<Acceptance> {
  const payment = newPayment(matched, stage, facilitator);
  let outcome: Claim;
  try {
    outcome = await claimPayable(db, payment, { baseUrl: config.baseUrl, notifyDeliveries });
  } catch (error) {
    if (error instanceof ClaimNotMade) return { kind: 'unavailable' };
    throw error;
  }
  if (outcome.kind !== 'claimed') return outcome;
  const { paymentId, dueAt } = outcome;
  logger.info({
    event: 'payment.claimed',
    payment: paymentId,
    session: payment.payableId,
    network: payment.network,
    ...(facilitator !== undefined && { facilitator }),
  });
  // The sweep finds a payment that is to be confirmed.
  if (stage === 'settle') notifySettlement({ paymentId, dueAt, requestId: matched.sent.requestId });
  return { kind: 'claimed', paymentId };
}

function newPayment(
  { session, requirements, proof, key, sent }: MatchedPayment,
  stage: NewPayment['stage'],
  facilitator: string | undefined,
): NewPayment {
  const token = findToken(requirements.network, requirements.asset);
  if (token === undefined) throw new Error('an offered token is not in the table');
  return {
    payableId: session.id,
    token: token.symbol,
    tokenAmount: requirements.amount,
    tokenDecimals: token.decimals,
    network: requirements.network,
    asset: requirements.asset,
    payer: payer(proof) ?? null,
    payTo: requirements.payTo,
    payloadKey: key,
    identifier: identifierOf(sent.header) ?? null,
    channel: sent.channel,
    arrivedAt: new Date(sent.arrivedAtMs),
    stage,
    facilitator: facilitator ?? null,
    requirements,
    payload: toWirePayload(proof),
    validUntil: endsAt(proof) ?? new Date(now().getTime() + SOLANA_LIFETIME_MS),
  };
}
