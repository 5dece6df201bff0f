import { FAR_END } from './model/ticks.js';

/**
 * A part of the model that is explored whole: all parts together take too long. Most settings have one payment, and every
 * step that can happen to it. Two settings have several payments of one session, with the answers and findings that the
 * rules of a session tell apart. No setting has limits and pauses shorter than a tick, the place of a search, a transfer
 * that proves another payment, the doubling pauses of an unreadable chain, or a chain that stands still and is reorganised.
 */
export interface Setting {
  readonly name: string;
  /** The confirmations that the operator has set. With 0 the facilitator's clear success is enough. */
  readonly confirmations: 0 | 2;
  /** The lifetime of the authorizations, in ticks. */
  readonly end: number;
  /** An end that is far ahead comes near at last. */
  readonly endComes: boolean;
  readonly chain: 'evm' | 'solana';
  /** The chain may stand still for any time. */
  readonly standsStill: boolean;
  /** The endpoint may be a tick behind the chain. */
  readonly lags: boolean;
  /** The newest block is replaced by another, once. */
  readonly reorganises: boolean;
  /** The endpoint may show the transaction that used an authorization. Otherwise no look ever finds it. */
  readonly explains: boolean;
  /** A buyer may cancel the authorization on the chain. */
  readonly ownerCancels: boolean;
  /** The facilitator may say that it has settled what it has not; else its clear "settled" is true. */
  readonly boasts: boolean;
  /** Every answer of the facilitator, or only the answers that the rules of a session tell apart. */
  readonly answers: 'all' | 'few';
  /** Calls may take time. Otherwise each call is answered or cut in the tick in which it begins. */
  readonly callsLast: boolean;
  /** The findings of the endpoint: every true or partial one; the truth or nothing; the truth. */
  readonly findings: 'all' | 'few' | 'truth';
  /** Workers may stand still: between taking a row and calling, or between a look and writing it down. */
  readonly stallsBefore: 'call' | 'write' | 'nothing';
  /** Postgres' clock is this many ticks ahead of the true time. */
  readonly clockAhead: number;
  /** The number of payments that may claim the session. */
  readonly payments: 1 | 2;
  /** The number of earlier payments that were refused falsely: their money has moved. */
  readonly refusedFalsely: 0 | 2;
  /** The past is remembered for this many ticks longer than makes a difference. */
  readonly memory: number;
}

/** One payment that ends soon, every answer, an endpoint that may tell less than it could, and workers that crash. */
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

/** The answers and findings that the rules of a session tell apart. */
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
