import type { ChainFinding } from '../../shared/chains/check/finding.js';
import { WAITING_FOR_A_TURN } from '../../shared/chains/check/unreadable.js';
import { lruCache } from '../../shared/limits/lru-cache.js';
import type { Payment } from '../../shared/payments/model.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { certainNow, nowMs, times } from '../../shared/process/clock.js';
import { carryOut } from '../../shared/settlement/carry-out.js';
import { afterCheck, afterProofTaken } from '../../shared/settlement/policy/after-check.js';
import type { Decision } from '../../shared/settlement/policy/decision.js';
import { LONGEST_CONFIRMATION_MS, UNREADABLE_ALARM_MS } from '../../shared/settlement/policy/limits.js';
import type { Settings } from '../../shared/settlement/policy/payment-state.js';
import { type TakenPayment, takeToCheck } from '../../shared/settlement/take-work.js';
import { inSpan, type Span } from '../../shared/tracing/spans.js';
import type { WorkerDeps } from '../deps/deps.js';
import { again, done, type JobOutcome } from '../deps/job-outcome.js';
import { measureWait } from '../deps/measure-wait.js';
import type { RunCall } from '../settlement/outside-calls.js';

/** A payment whose use is unexplained this long after its claim is an error. */
const UNEXPLAINED_MS = 300_000;

/** Asks the chain what became of a payment, and carries out what that decides. */
export async function confirmPayment(
  deps: WorkerDeps,
  { paymentId }: { paymentId: string },
  runCall: RunCall = (call) => call(),
): Promise<JobOutcome> {
  const taken = await takeToCheck(deps, paymentId);
  if (taken === undefined) return done;
  return await inSpan(taken.span, (span) => confirm(deps, taken, { runCall, span }));
}

async function confirm(
  deps: WorkerDeps,
  taken: TakenPayment,
  { runCall, span }: { runCall: RunCall; span: Span },
): Promise<JobOutcome> {
  const { payment, job, settings, facilitatorRequest } = taken;
  const finding = await checkChain(deps, taken, runCall);
  deps.metrics.chainCheck(payment.network, finding.kind);
  const commitsMayBeLost = deps.commits.mayHaveLost();
  let decision = afterCheck(payment, { finding, commitsMayBeLost }, settings, times());
  while (decision.kind === 'ask_verify') {
    const { kind } = await deps.facilitators.verifyBy(payment.facilitator, facilitatorRequest);
    decision = afterCheck(
      payment,
      { finding, commitsMayBeLost, isValid: kind === 'valid' },
      settings,
      times(),
    );
  }
  // The endpoint was not asked, so the next check comes at its turn there and not after a pause.
  if (decision.kind === 'check_again' && finding.kind === 'unreadable' && finding.againInMs !== undefined) {
    const inTurn = new Date(nowMs() + finding.againInMs);
    if (inTurn < decision.at) decision = { ...decision, at: inTurn };
  }
  alarm(deps, taken, finding, decision);
  span.set({ 'checkout.finding': finding.kind, 'checkout.decision': decision.kind });
  deps.logger.info({
    event: 'payment.looked_up',
    payment: payment.id,
    session: payment.payableId,
    network: payment.network,
    finding: finding.kind,
    decision: decision.kind,
    ...('reason' in finding && { reason: finding.reason }),
  });
  const ifProofTaken =
    decision.kind === 'succeed' ? afterProofTaken(payment, decision.proof.transaction, times()) : undefined;
  const { kind, checkAgainAt } = await carryOut(deps, { payment, job }, decision, { ifProofTaken });
  measureWait(deps, payment, { decision, written: kind });
  return checkAgainAt === undefined ? done : again(checkAgainAt);
}

/** The endpoint is not asked when the payment's network, or its account there, has as many checks in flight as it may. */
async function checkChain(
  { chains, chainChecks }: WorkerDeps,
  { payment: { network, accountId }, chainQuery, checkDeadline }: TakenPayment,
  runCall: RunCall,
): Promise<ChainFinding> {
  const slot = await chainChecks.takeSlot({ network, accountId });
  if (slot.kind === 'refused')
    return { kind: 'unreadable', reason: WAITING_FOR_A_TURN, againInMs: slot.turnInMs };
  try {
    return await runCall(() => chains.check(chainQuery, { checkDeadline }));
  } finally {
    slot.release();
  }
}

/** Logs an error for a payment that waits long for its chain, and for a payment that was given up as uncertain. */
function alarm(
  { logger }: WorkerDeps,
  { payment, settings }: Pick<TakenPayment, 'payment' | 'settings'>,
  finding: ChainFinding,
  decision: Pick<Decision, 'kind'> | Extract<Decision, { kind: 'fail' }>,
): void {
  const { id, payableId: session, network, payer, tokenAmount: token_amount } = payment;
  const named = { payment: id, session, network };
  if ('code' in decision && decision.code === OUTCOME_UNKNOWN) {
    logger.error({
      event: 'payment.outcome_unknown',
      ...named,
      payer,
      token_amount,
      hint: OUTCOME_UNKNOWN_HINT,
    });
    return;
  }
  const kind = alarmOf(payment, finding, settings);
  if (decision.kind !== 'check_again' || kind === undefined || recentAlarms.has(id)) return;
  recentAlarms.set(id, true);
  const { event, hint } = ALARMS[kind];
  const reason = 'reason' in finding ? finding.reason : stillOpen(payment, finding);
  logger.error({ event, ...named, reason, hint });
}

/**
 * An endpoint whose index or newest block is only a little behind raises no alarm. The time must be over by both clocks, so
 * that a clock that is ahead raises none either.
 */
function alarmOf(
  payment: Payment,
  finding: ChainFinding,
  { confirmations }: Settings,
): keyof typeof ALARMS | undefined {
  const { kind } = finding;
  const at = certainNow().getTime();
  if (kind === 'used' || kind === 'searching')
    return at < payment.claimedAt.getTime() + UNEXPLAINED_MS ? undefined : kind;
  if (payment.status !== 'processing' || kind === 'spent_otherwise') return undefined;
  const confirmingMs = lacksConfirmations(payment, finding) ? confirmations * LONGEST_CONFIRMATION_MS : 0;
  const alarmAt = payment.validUntil.getTime() + UNREADABLE_ALARM_MS + confirmingMs;
  return at >= alarmAt ? 'unreadable' : undefined;
}

/** The chain is read, and its next blocks decide. */
function lacksConfirmations({ validUntil }: Payment, finding: ChainFinding): boolean {
  if (finding.kind === 'unused') return finding.chainTime > validUntil;
  return finding.kind === 'paid' || finding.kind === 'pending';
}

function stillOpen(payment: Payment, finding: Exclude<ChainFinding, { reason: string }>): string {
  if (finding.kind === 'unused' && lacksConfirmations(payment, finding))
    return 'a block, or one that replaces it, can still use its authorization';
  return STILL_OPEN[finding.kind];
}

const STILL_OPEN = {
  unused: 'the newest block is not later than the end of its authorization',
  pending: 'its transaction is not confirmed',
  paid: 'its transaction has too few confirmations',
  spent_otherwise: 'its transaction does not pay',
} as const;

const recentAlarms = lruCache<true>(1000, { ttl: 10 * 60_000 });

const OUTCOME_UNKNOWN_HINT =
  'Nobody knows whether this payment moved money; its buyer was told so. See what the wallet has received, and tell the merchant.';

const ALARMS = {
  unreadable: {
    event: 'payment.chain_unreadable',
    hint: 'Nothing is decided while the chain cannot be read. Set RPC_URL to an endpoint that answers, and that is not behind.',
  },
  used: {
    event: 'payment.used_unexplained',
    hint: 'The authorization is used, and the endpoint does not show by what. Set RPC_URL to one that answers eth_getLogs.',
  },
  searching: {
    event: 'payment.search_unfinished',
    hint: 'The endpoint does not let the search for the payment end. Set RPC_URL to one that lists the last hours.',
  },
} as const;
