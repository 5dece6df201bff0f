import type { Logger } from '../../process/logger.js';
import type { FacilitatorRequest } from '../wire.js';
import type { Facilitator } from './facilitator.js';
import type { VerifyVerdict } from './facilitator-answers.js';
import type { UnavailableFacilitators } from './unavailable-facilitators.js';

/** `facilitator`: the facilitator that gave the verdict; undefined without a verdict. */
export type Verified = VerifyVerdict & { facilitator: string | undefined };

type Verifier = Pick<Facilitator, 'name' | 'verify'>;
type Unavailable = Extract<VerifyVerdict, { kind: 'unavailable' }>;
type Disowned = Extract<VerifyVerdict, { kind: 'refused' }> & { facilitator: string };

interface Turn {
  payment: FacilitatorRequest;
  /** How long all facilitators together may take. */
  withinMs: number;
}

/** A facilitator that was unavailable and may be back is given this long before the next is asked as well. */
const DOUBTFUL_MS = 500;

/** Facilitators refuse a Solana payment whose fee payer is not theirs with these words. */
const NOT_ITS_FEE_PAYER = /(?:^|_)fee_payer_not_managed_by_facilitator$/;

/**
 * Asks one facilitator after the other until one gives a verdict, a refusal included. A facilitator that fails, that is
 * silent for its share of the time, or that has another fee payer, is followed by the next; its answer still counts when it
 * comes first.
 */
export async function verifyInTurn(
  verifiers: readonly Verifier[],
  { payment, withinMs }: Turn,
  { unavailable, logger }: { unavailable: UnavailableFacilitators; logger: Logger | undefined },
): Promise<Verified> {
  const { network } = payment.paymentRequirements;
  const endMs = performance.now() + withinMs;
  const failures: Unavailable[] = [];
  const disowned: Disowned[] = [];
  const asked: Promise<Verified>[] = [];

  async function ask({ name, verify }: Verifier, patienceMs: number, leftMs: number): Promise<Verified> {
    const startedMs = performance.now();
    const verdict = await verify(payment, leftMs);
    if (verdict.kind === 'unavailable') {
      unavailable.note(name, network, verdict.forMs);
      failures.push({ ...verdict, why: `${name}: ${verdict.why}` });
    } else if (performance.now() - startedMs <= patienceMs) unavailable.clear(name, network);
    if (isDisowning(verdict)) disowned.push({ ...verdict, facilitator: name });
    return { ...verdict, facilitator: name };
  }

  for (const [index, verifier] of verifiers.entries()) {
    const { name } = verifier;
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) break;
    const isLast = index === verifiers.length - 1;
    const shareMs = leftMs / (verifiers.length - index);
    const patienceMs =
      unavailable.isDoubtful(name, network) && !isLast ? Math.min(DOUBTFUL_MS, shareMs) : shareMs;
    asked.push(ask(verifier, patienceMs, leftMs));
    const verdict = await firstVerdict(asked, patienceMs);
    if (verdict !== undefined) return verdict;
    if (disowned.some(({ facilitator }) => facilitator === name)) continue;
    if (!unavailable.isUnavailable(name, network)) unavailable.note(name, network);
    if (!isLast)
      logger?.warn({
        event: 'facilitator.passed_over',
        facilitator: name,
        network,
        why: whyOf(failures, name),
      });
  }
  // A facilitator that has not answered may be the owner.
  const [first] = disowned;
  if (first !== undefined && disowned.length === verifiers.length) return first;
  const waits = failures.flatMap(({ forMs }) => (forMs === undefined ? [] : [forMs]));
  return {
    kind: 'unavailable',
    why: failures.map(({ why }) => why).join('; ') || NO_ANSWER,
    ...(waits.length === verifiers.length && { forMs: Math.min(...waits) }),
    facilitator: undefined,
  };
}

/** The facilitator calls the fee payer another's. */
export function isDisowning(verdict: VerifyVerdict): verdict is Extract<VerifyVerdict, { kind: 'refused' }> {
  return verdict.kind === 'refused' && NOT_ITS_FEE_PAYER.test(verdict.reason);
}

const NO_ANSWER = 'no answer in time';

function whyOf(failures: readonly Unavailable[], name: string): string {
  const failure = failures.findLast(({ why }) => why.startsWith(`${name}: `));
  return failure?.why.slice(name.length + 2) ?? NO_ANSWER;
}

/** Undefined when no call gives a verdict on the payment in time. */
function firstVerdict(calls: readonly Promise<Verified>[], withinMs: number): Promise<Verified | undefined> {
  return new Promise((resolve) => {
    let open = calls.length;
    const timer = setTimeout(() => resolve(undefined), withinMs);
    const end = (verdict: Verified | undefined): void => {
      clearTimeout(timer);
      resolve(verdict);
    };
    for (const call of calls)
      void call.then((verdict) => {
        open -= 1;
        if (verdict.kind !== 'unavailable' && !isDisowning(verdict)) end(verdict);
        else if (open === 0) end(undefined);
      });
  });
}
