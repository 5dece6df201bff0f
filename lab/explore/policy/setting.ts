import { FAR_END } from './model/ticks.js';

/**
 * A part of the model, which is explored whole; everything together is too much for seconds. Most have one payment, and
 * whatever can happen to it. Two have several payments of one session, and of answers and findings only what the rules
 * of a session can tell apart. In none of them are: limits and pauses shorter than a tick, how far a search has come, a
 * transfer that proves another payment, pauses that double in a silence, and a chain that stands still and is reorganised.
 */
export interface Setting {
  readonly name: string;
  /** What the operator has set: 0 takes the facilitator's clear word. */
  readonly confirmations: 0 | 2;
  /** How long the authorizations last, in ticks. */
  readonly end: number;
  /** An end that is far ahead comes near at last. */
  readonly endComes: boolean;
  readonly chain: 'evm' | 'solana';
  /** It may stand still for as long as it likes. */
  readonly standsStill: boolean;
  /** Its endpoint may be a tick behind. */
  readonly lags: boolean;
  /** Its newest block is replaced by another, once. */
  readonly reorganises: boolean;
  /** Its endpoint may show by what an authorization was used; else nobody ever learns it. */
  readonly explains: boolean;
  /** A buyer may cancel the authorization on the chain. */
  readonly ownerCancels: boolean;
  /** The facilitator may say that it has settled what it has not; else its clear "settled" is true. */
  readonly boasts: boolean;
  /** All that the facilitator may answer, or only what the rules of a session can tell apart. */
  readonly answers: 'all' | 'few';
  /** Calls may last; else each is answered, or cut, in the moment in which it begins. */
  readonly callsLast: boolean;
  /** What an endpoint may say: all of it, the truth or nothing, or the truth. */
  readonly findings: 'all' | 'few' | 'truth';
  /** Workers may stand still: between taking a row and calling, or between a look and writing it down. */
  readonly stallsBefore: 'call' | 'write' | 'nothing';
  /** So many ticks is the clock that is followed ahead of the true one. */
  readonly clockAhead: number;
  /** So many may claim the session. */
  readonly payments: 1 | 2;
  /** So many before them were refused falsely: their money has moved. */
  readonly refusedFalsely: 0 | 2;
  /** So many ticks longer than makes a difference the past is remembered. */
  readonly memory: number;
}

/** One payment that ends soon, every answer, an endpoint that says no more than it likes, and workers that are killed. */
export const PLAIN: Setting = {
  name: 'plain',
  confirmations: 0,
  end: 4,
  endComes: true,
  chain: 'evm',
  standsStill: false,
  lags: false,
  reorganises: false,
  explains: true,
  ownerCancels: false,
  boasts: false,
  answers: 'all',
  callsLast: true,
  findings: 'all',
  stallsBefore: 'nothing',
  clockAhead: 0,
  payments: 1,
  refusedFalsely: 0,
  memory: 0,
};

/** Only what tells payments of one session apart. */
const REDUCED = { answers: 'few', callsLast: false, findings: 'few' } as const;

export const SETTINGS = {
  cancels: { ...PLAIN, name: 'an owner who cancels, an endpoint that lags', lags: true, ownerCancels: true },
  standsStill: { ...PLAIN, name: 'a chain that stands still', end: 3, standsStill: true },
  stallsBeforeCall: {
    ...PLAIN,
    name: 'workers that stand still before they call',
    end: 3,
    stallsBefore: 'call',
  },
  stallsBeforeWrite: {
    ...PLAIN,
    name: 'workers that stand still after a look',
    end: 2,
    stallsBefore: 'write',
  },
  confirmations: {
    ...PLAIN,
    name: 'two confirmations, a reorganised chain, a facilitator that boasts',
    confirmations: 2,
    end: 2,
    reorganises: true,
    ownerCancels: true,
    boasts: true,
  },
  solana: { ...PLAIN, name: 'Solana', end: 3, chain: 'solana', lags: true },
  clocks: { ...PLAIN, name: 'a clock that is ahead', end: 3, clockAhead: 2 },
  farAhead: {
    ...PLAIN,
    name: 'an end far ahead, a chain that stands still',
    end: FAR_END,
    endComes: false,
    standsStill: true,
    answers: 'few',
    callsLast: false,
  },
  farAheadComes: {
    ...PLAIN,
    ...REDUCED,
    name: 'an end far ahead that comes near',
    end: FAR_END,
    findings: 'truth',
  },
  unexplained: { ...PLAIN, name: 'an endpoint that never shows by what', end: 3, explains: false },
  twoPayments: { ...PLAIN, ...REDUCED, name: 'two payments', end: 2, payments: 2 },
  threePayments: {
    ...PLAIN,
    ...REDUCED,
    name: 'a payment after two that were refused falsely',
    end: 1,
    findings: 'truth',
    refusedFalsely: 2,
  },
} as const satisfies Record<string, Setting>;
