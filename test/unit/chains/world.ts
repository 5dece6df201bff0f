import assert from 'node:assert/strict';
import type { Chains, PaymentQuery } from '../../../shared/chains/confirmation.js';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import type { ChainFetch } from '../../../shared/chains/rpc-fetch.js';
import type { SearchPlace } from '../../../shared/chains/search-place.js';

/**
 * A payment, its chain, and the endpoint's dials as they are turned over time. Times are Unix milliseconds: `now` is
 * the service's clock, and the chain has its own, which may stand still.
 */
export interface World {
  chains: Chains;
  query: PaymentQuery;
  now: number;
  /** When the facilitator's call has ended. */
  settledAt: number;
  /** The authorization's end; for Solana, long after the blockhash. */
  endsAt: number;
  /** How often the endpoint has answered what it knows of the payment. */
  spoken(): number;
  /** What became of the payment, once it is settled for good. */
  fate(): 'paid' | 'lost' | 'open';
}

export type Verdict =
  | { kind: 'paid' | 'failed' }
  /** Failed because for a minute past its end no look could read anything of it, which the contract allows. */
  | { kind: 'given_up' }
  | { kind: 'undecided' };

const SILENCE_MS = 60_000;

/** The service's policy, as far as it decides on findings: mirrors workers/decide-payment.ts. */
export class Policy {
  readonly #world: World;
  #place: SearchPlace | undefined;
  #silentSince: { at: number; spoken: number } | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  async look(): Promise<Verdict> {
    const { chains, query } = this.#world;
    const spoken = this.#world.spoken();
    const finding = await chains.lookUp({ ...query, place: this.#place });
    if (finding.kind !== 'unreadable') {
      this.#place = 'place' in finding ? finding.place : undefined;
      this.#silentSince = undefined;
    }
    return this.#decide(finding, spoken);
  }

  #decide(finding: ChainFinding, spoken: number): Verdict {
    const { now, settledAt, endsAt } = this.#world;
    switch (finding.kind) {
      case 'paid':
        return { kind: 'paid' };
      case 'spent_otherwise':
        return { kind: 'failed' };
      case 'unused':
        return finding.exhausted && finding.chainTime.getTime() > settledAt
          ? { kind: 'failed' }
          : { kind: 'undecided' };
      case 'unreadable': {
        this.#silentSince ??= { at: now, spoken };
        const hasEnded = finding.chainTime === undefined || finding.chainTime.getTime() > endsAt;
        const isOver = now >= endsAt + SILENCE_MS && now - this.#silentSince.at >= SILENCE_MS && hasEnded;
        if (!isOver) return { kind: 'undecided' };
        return { kind: this.#world.spoken() === this.#silentSince.spoken ? 'given_up' : 'failed' };
      }
      case 'pending':
      case 'used':
      case 'searching':
        return { kind: 'undecided' };
    }
  }
}

/** The three mistakes that were made, put back: what was found, and not understood, called unreadable. */
export const MISTAKES = {
  'too many blocks': (finding) => finding.kind === 'used',
  'too many transactions': (finding) => finding.kind === 'searching',
  'a stale head': (finding, now) => finding.kind === 'unused' && now - finding.chainTime.getTime() > 120_000,
} as const satisfies Record<string, (finding: ChainFinding, now: number) => boolean>;

export type Mistake = keyof typeof MISTAKES;

export function plant(mistake: Mistake, world: World): World {
  const { chains } = world;
  const lookUp: Chains['lookUp'] = async (query, options) => {
    const finding = await chains.lookUp(query, options);
    return MISTAKES[mistake](finding, world.now) ? { kind: 'unreadable', reason: mistake } : finding;
  };
  world.chains = { lookUp, close: () => chains.close() };
  return world;
}

/** Counts what the endpoint says of a payment: answers to these methods of a form that can be understood. */
export function listening(
  fetch: ChainFetch,
  isSaid: Readonly<Record<string, (result: unknown) => boolean>>,
): { fetch: ChainFetch; spoken(): number } {
  let spoken = 0;
  return {
    spoken: () => spoken,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const { method } = JSON.parse(String(init?.body)) as { method: string };
      const isUnderstood = isSaid[method];
      if (isUnderstood === undefined || !response.ok) return response;
      const text = await response.text();
      try {
        const { result } = JSON.parse(text) as { result?: unknown };
        if (isUnderstood(result)) spoken += 1;
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
      }
      return new Response(text, { status: response.status, headers: response.headers });
    },
  };
}
