import type { PaymentQuery } from '../../shared/chains/chains.js';
import type { ChainFinding } from '../../shared/chains/check/finding.js';
import { parseSignedMessage } from '../../shared/chains/solana/solana-message.js';
import { DOUBT_MS } from '../../shared/db/commit-memory.js';
import { MAX_PAGE_RPC_CALLS } from '../../shared/limits/bounds.js';
import { LEAVE_A_QUARTER } from '../../shared/limits/budget.js';
import { openConcurrency } from '../../shared/limits/concurrency.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { certainNow, earlierNowMs, laterNowMs } from '../../shared/process/clock.js';
import { BLOCK_AHEAD_MS, BLOCK_LAG_MS } from '../../shared/settlement/policy/limits.js';
import { describeFailure, type Failure, outcomeUnknown } from '../../shared/x402/failure-codes.js';
import type { PaymentProof } from '../../shared/x402/payload.js';
import { queryForUnstored } from '../../shared/x402/stored-payment.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import type { LinkDeps } from './link-deps.js';

/** The buyer waits for this check. */
const CHECK_WITHIN_MS = 4000;

/** A network whose endpoint hangs leaves slots: another network's refusal finds one. */
const checks = openConcurrency({
  total: MAX_PAGE_RPC_CALLS,
  perHolder: [MAX_PAGE_RPC_CALLS],
  dynamicThreshold: LEAVE_A_QUARTER,
});

export interface DoubtedRefusal {
  session: string;
  requirements: PaymentRequirements;
  proof: PaymentProof;
  failure: Failure;
  /** The facilitator's code says that the payload may be used. */
  saysUsed: boolean;
}

/**
 * Checks the chain before a refusal is passed on. A facilitator also refuses a payload that is used already, and after a
 * failover to a copy without the last commits Postgres may have forgotten the payment that used it. `paid`: the chain
 * proves such a payment.
 */
export async function checkBeforeRefusal(
  { chains, logger, commits, references }: Pick<LinkDeps, 'chains' | 'logger' | 'commits' | 'references'>,
  { session, requirements, proof, failure, saysUsed }: DoubtedRefusal,
): Promise<{ kind: 'paid' } | { kind: 'refused'; failure: Failure }> {
  const { network } = requirements;
  const query = queryForUnstored(requirements, proof, new Date(certainNow().getTime() - DOUBT_MS));
  const finding = await checkChain(chains, query);
  const mayBeLost = commits.mayHaveLost();
  const seen = { session, network, reason: failure.reason, finding: finding.kind };
  if (finding.kind === 'paid') {
    const { transaction } = finding;
    const named = namedBy(proof, references) ?? session;
    logger.error({ event: 'payment.forgotten', ...seen, session: named, transaction });
    if (named === session) return { kind: 'paid' };
    return { kind: 'refused', failure: describeFailure(OUTCOME_UNKNOWN) };
  }
  logger.info({ event: 'payment.looked_up_before_refusal', ...seen });
  const canNeverPay = finding.kind === 'spent_otherwise' || (finding.kind === 'unused' && finding.exhausted);
  if (canNeverPay || !(saysUsed || mayBeLost)) return { kind: 'refused', failure };
  // A call that Postgres has forgotten may still use an unused authorization.
  if (mayBeLost) return { kind: 'refused', failure: describeFailure(OUTCOME_UNKNOWN) };
  if (finding.kind === 'unused' && !mayBeBehind(finding)) return { kind: 'refused', failure };
  // The code says that the payload was used, which is what is known.
  return { kind: 'refused', failure: { ...failure, message: outcomeUnknown(), isUncertain: true } };
}

/** The facilitator may have seen a use in blocks that this endpoint does not know. A block ahead of either clock has no known age. */
function mayBeBehind({ chainTime }: Extract<ChainFinding, { kind: 'unused' }>): boolean {
  const blockMs = chainTime.getTime();
  return laterNowMs() - blockMs > BLOCK_LAG_MS || blockMs - earlierNowMs() > BLOCK_AHEAD_MS;
}

/** The session or refund that the nonce or the memo names: the payload was signed on its page, and pays it. */
function namedBy(proof: PaymentProof, references: LinkDeps['references']): string | undefined {
  const carried =
    proof.family === 'evm' ? [proof.nonce] : (parseSignedMessage(proof.transactionBase64).memos ?? []);
  for (const one of carried) {
    const named = references.read(one)?.payableId;
    if (named !== undefined) return named;
  }
  return undefined;
}

async function checkChain(chains: LinkDeps['chains'], query: PaymentQuery): Promise<ChainFinding> {
  const release = checks.tryTake(query.network);
  if (release === undefined) return { kind: 'unreadable', reason: 'too many checks at once' };
  try {
    return await (await chains()).check(query, { withinMs: CHECK_WITHIN_MS });
  } finally {
    release();
  }
}
