import fc from 'fast-check';
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

/** The behaviour of an endpoint during some checks, on a chain of either family. */
export interface Phase {
  checks: number;
  secondsApart: number;
  nodes: readonly number[];
  atRandom: boolean;
  allowance: number;
  isHalted: boolean;
  fault: { method: string; kind: 'cut' | 'http_500' | 'http_429' | 'wrong_shape' } | null;
}

export const HONEST: Phase = {
  checks: 0,
  secondsApart: 30,
  nodes: [0],
  atRandom: false,
  allowance: Number.POSITIVE_INFINITY,
  isHalted: false,
  fault: null,
};

type Arbitraries<T> = { [Name in keyof T]: fc.Arbitrary<T[Name]> };

/** True in one of six phases. */
export const seldom = fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, fc.boolean());

/** Any phases with these members, of which some halt the chain while the service's clock passes the payment's end. */
export function phasesOf<P extends Phase>(
  honest: P,
  methods: readonly string[],
  own: Arbitraries<Omit<P, 'checks' | 'secondsApart' | 'atRandom' | 'isHalted' | 'fault'>>,
): fc.Arbitrary<P[]> {
  const common: Arbitraries<Pick<Phase, 'checks' | 'secondsApart' | 'atRandom' | 'isHalted' | 'fault'>> = {
    checks: fc.integer({ min: 1, max: 4 }),
    secondsApart: fc.integer({ min: 2, max: 60 }),
    atRandom: fc.boolean(),
    isHalted: seldom,
    fault: fc.option(
      fc.record({
        method: fc.constantFrom(...methods, '*'),
        kind: fc.constantFrom('cut', 'http_500', 'http_429', 'wrong_shape'),
      }),
      { freq: 3 },
    ),
  };
  const any = fc.record({ ...common, ...own }) as unknown as fc.Arbitrary<P>;
  const longHalt = fc
    .integer({ min: 4, max: 8 })
    .map((checks) => ({ ...honest, checks, secondsApart: 50, isHalted: true }));
  const phase = fc.oneof({ weight: 7, arbitrary: any }, { weight: 1, arbitrary: longHalt });
  return fc.array(phase, { minLength: 1, maxLength: 5 });
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
