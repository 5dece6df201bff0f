import type { RpcEndpoint } from '../../../lab/world/chains/rpc-endpoint.js';
import type { Chains, PaymentQuery } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import type { SearchPosition } from '../../../shared/chains/check/search-position.js';

/**
 * A payment, its chain, and an endpoint whose fault modes change over time. Times are Unix milliseconds: `now` is the
 * service's clock; the chain has its own, which may halt.
 */
export interface World {
  chains: Chains;
  query: PaymentQuery;
  now: number;
  /** When the facilitator's call has ended. */
  settledAt: number;
  /** The authorization's end; for Solana, long after the blockhash. */
  endsAt: number;
  /** The confirmations that are set. */
  confirmations: number;
  /** How often the endpoint has answered about the payment. */
  answerCount(): number;
  /** The outcome of the payment, once it is final. */
  fate(): 'paid' | 'lost' | 'open';
}

export type Verdict =
  | { kind: 'paid' | 'failed' }
  /** The payment failed because no check could read anything of it for a minute past its end, which the contract allows. */
  | { kind: 'given_up' }
  | { kind: 'undecided' };

const SILENCE_MS = 60_000;

/** A copy of the service's policy for findings, from shared/settlement/policy. */
export class Policy {
  readonly #world: World;
  #position: SearchPosition | undefined;
  #silentSince: { at: number; answerCount: number } | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  async check(): Promise<Verdict> {
    const { chains, query } = this.#world;
    const answerCount = this.#world.answerCount();
    const finding = await chains.check({ ...query, position: this.#position });
    if (finding.kind !== 'unreadable') {
      this.#position = 'position' in finding ? finding.position : undefined;
      this.#silentSince = undefined;
    }
    return this.#decide(finding, answerCount);
  }

  #decide(finding: ChainFinding, answerCount: number): Verdict {
    const { now, settledAt, endsAt } = this.#world;
    switch (finding.kind) {
      case 'paid':
        return { kind: finding.confirmations >= this.#world.confirmations ? 'paid' : 'undecided' };
      case 'spent_otherwise':
        return { kind: 'failed' };
      case 'unused':
        return finding.exhausted && finding.chainTime.getTime() > settledAt
          ? { kind: 'failed' }
          : { kind: 'undecided' };
      case 'unreadable': {
        this.#silentSince ??= { at: now, answerCount };
        const hasEnded = finding.chainTime === undefined || finding.chainTime.getTime() > endsAt;
        const isOver = now >= endsAt + SILENCE_MS && now - this.#silentSince.at >= SILENCE_MS && hasEnded;
        if (!isOver) return { kind: 'undecided' };
        return { kind: this.#world.answerCount() === this.#silentSince.answerCount ? 'given_up' : 'failed' };
      }
      case 'pending':
      case 'used':
      case 'searching':
        return { kind: 'undecided' };
    }
  }
}

/** Three former faults, planted again: an unfinished finding is reported as unreadable. */
export const MUTANTS = {
  'too many blocks': (finding) => finding.kind === 'used',
  'too many transactions': (finding) => finding.kind === 'searching',
  'a stale head': (finding, now) => finding.kind === 'unused' && now - finding.chainTime.getTime() > 120_000,
} as const satisfies Record<string, (finding: ChainFinding, now: number) => boolean>;

export type Mutant = keyof typeof MUTANTS;

export function plant<W extends World>(mutant: Mutant | undefined, world: W): W {
  if (mutant === undefined) return world;
  const { chains } = world;
  const check: Chains['check'] = async (query, options) => {
    const finding = await chains.check(query, options);
    return MUTANTS[mutant](finding, world.now) ? { kind: 'unreadable', reason: mutant } : finding;
  };
  world.chains = { check, close: () => chains.close() };
  return world;
}

/** Counts the endpoint's well-formed answers to a method. */
export function countAnswers(
  endpoint: RpcEndpoint,
  counted: string,
  isWellFormed: (result: unknown) => boolean,
): () => number {
  let answerCount = 0;
  endpoint.onResult = (method, result) => {
    if (method === counted && isWellFormed(result)) answerCount += 1;
  };
  return () => answerCount;
}
