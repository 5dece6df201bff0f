import { LRUCache } from 'lru-cache';
import type { ChainFinding } from '../shared/chains/finding.js';
import { now, nowMs } from '../shared/clock.js';
import type { Observation, SearchPlace } from '../shared/domain/payment.js';
import type { Payment } from '../shared/models/payment.js';
import { beginLook, type NextWork, postpone } from '../shared/services/payments/take-work.js';
import { failPayment, succeedPayment } from '../shared/services/payments/write-verdict.js';
import { type Decision, decide, decideLate, type Finding, nextLook } from './decide-payment.js';
import type { WorkerDeps } from './deps.js';
import { inWords } from './finding-in-words.js';
import { again, done, type Outcome } from './outcome.js';
import { ring } from './ring.js';
import { chainQuery } from './stored-payment.js';
import { verdictDeps } from './verdict-deps.js';
import { writeOutcome } from './write-outcome.js';

/** After the claim. */
const UNEXPLAINED_MS = 300_000;

/** Asks the chain what became of a payment, and carries out what that decides. */
export async function confirmPayment(
  deps: WorkerDeps,
  { paymentId }: { paymentId: string },
): Promise<Outcome> {
  const payment = await beginLook(deps.db, paymentId);
  if (payment === undefined) return done;
  const finding = await deps.chains.lookUp(chainQuery(payment));
  const decision =
    payment.status === 'failed' ? decideLate(deps, payment, finding) : await decide(deps, payment, finding);
  deps.logger.info({
    event: 'payment.looked_up',
    payment: payment.id,
    session: payment.checkoutSessionId,
    network: payment.network,
    finding: finding.kind,
    decision: decision.kind,
    ...('reason' in finding && { reason: finding.reason }),
  });
  if (finding.kind === 'used' || finding.kind === 'searching') alarm(deps, payment, finding);
  const look = {
    observation: { source: 'chain', said: inWords(finding) } as const,
    ...progressOf(payment, finding),
  };
  return await writeOutcome(deps, payment, () => carryOut(deps, payment, decision, look));
}

/** What a look says for the record, whatever is decided. */
interface Look extends Progress {
  observation: Omit<Observation, 'at'>;
}

interface Progress {
  unreadableSince: Date | null;
  searchPlace: SearchPlace | null;
  usedSeenAt: Date | null;
}

/** A look that could read nothing leaves what was known as it was, and so does one that waits for what it has seen. */
function progressOf(payment: Payment, finding: ChainFinding): Progress {
  const { searchPlace, usedSeenAt } = payment;
  if (finding.kind === 'pending') return { unreadableSince: null, searchPlace, usedSeenAt };
  if (finding.kind === 'unreadable')
    return { unreadableSince: payment.unreadableSince ?? now(), searchPlace, usedSeenAt };
  return {
    unreadableSince: null,
    searchPlace: ('place' in finding && finding.place) || null,
    usedSeenAt: finding.kind === 'used' ? (usedSeenAt ?? now()) : null,
  };
}

/** Never decided by time, so a person must hear of it; at first an endpoint's index is only a little behind. */
function alarm(
  { logger }: WorkerDeps,
  { id, checkoutSessionId, network, claimedAt }: Payment,
  { kind, reason }: Finding<'used' | 'searching'>,
): void {
  if (nowMs() < claimedAt.getTime() + UNEXPLAINED_MS || toldLately.has(id)) return;
  toldLately.set(id, true);
  const { event, hint } = ALARMS[kind];
  logger.error({ event, payment: id, session: checkoutSessionId, network, reason, hint });
}

const toldLately = new LRUCache<string, true>({ max: 1000, ttl: 10 * 60_000 });

const ALARMS = {
  used: {
    event: 'payment.used_unexplained',
    hint: 'The authorization is used, and the endpoint does not show by what. Set RPC_URL to one that answers eth_getLogs.',
  },
  searching: {
    event: 'payment.search_unfinished',
    hint: 'The endpoint does not let the search for the payment end. Set RPC_URL to one that lists the last hours.',
  },
} as const;

async function carryOut(
  deps: WorkerDeps,
  payment: Payment,
  decision: Decision,
  { observation, ...progress }: Look,
): Promise<Outcome> {
  switch (decision.kind) {
    case 'succeed': {
      const { transaction, payer, proofIndex } = decision.finding;
      const result = await succeedPayment(
        verdictDeps(deps),
        payment,
        { transaction, payer, proofIndex },
        observation,
      );
      if (result !== 'proof_taken') return done;
      deps.logger.error({ event: 'payment.proof_taken', payment: payment.id, transaction });
      return await goOn(
        deps,
        payment,
        { stage: stageOf(payment), dueAt: nextLook(payment) },
        {
          source: 'service',
          said: `the transfer in ${transaction} proves another payment`,
        },
        progress,
      );
    }
    case 'fail':
      await failPayment(verdictDeps(deps), payment, { ...decision, released: false }, observation);
      return done;
    case 'settle_again':
      return await goOn(deps, payment, { stage: 'settle', dueAt: now() }, observation, progress);
    case 'look_again': {
      const { unusedSeenAt = null } = decision;
      const next = { stage: stageOf(payment), dueAt: decision.at };
      return await goOn(deps, payment, next, observation, { ...progress, unusedSeenAt });
    }
    case 'stop_watching':
      await postpone(deps.db, payment, undefined, observation);
      return done;
  }
}

async function goOn(
  deps: WorkerDeps,
  payment: Payment,
  next: NextWork,
  observation: Omit<Observation, 'at'>,
  progress: Progress & { unusedSeenAt?: Date | null },
): Promise<Outcome> {
  const learnt = { unusedSeenAt: null, ...progress };
  const isMine = await postpone(deps.db, payment, next, observation, learnt);
  if (!isMine) return done;
  if (next.stage !== 'settle') return again(next.dueAt);
  await ring(deps, payment, next);
  return done;
}

function stageOf(payment: Payment): 'confirm' | 'watch' {
  return payment.status === 'failed' ? 'watch' : 'confirm';
}
