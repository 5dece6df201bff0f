import { FAR_END } from './ticks.js';

/**
 * A part of the model that is explored completely; the whole model would take too long. Most settings have one payment,
 * with all its possible events. Two have several payments of one session, with only the answers and findings that the
 * rules of a session distinguish. The model leaves out: limits and pauses shorter than a tick, the progress of a search,
 * a transfer that proves another payment, pauses that double in a silence, and a chain that is halted and reorganised.
 */
export interface Setting {
  readonly name: string;
  /** Required confirmations; 0 believes the facilitator's clear answer. */
  readonly confirmations: 0 | 2;
  /** The authorizations' lifetime, in ticks. */
  readonly end: number;
  /** An end that is far ahead comes near at last. */
  readonly endComes: boolean;
  readonly chain: 'evm' | 'solana';
  /** The chain may halt for any time. */
  readonly standsStill: boolean;
  /** The endpoint may be one tick behind. */
  readonly lags: boolean;
  /** The newest block is replaced by another, once. */
  readonly reorganises: boolean;
  /** The endpoint may show what used an authorization; otherwise nothing ever shows it. */
  readonly explains: boolean;
  /** A buyer may cancel the authorization on the chain. */
  readonly ownerCancels: boolean;
  /** The facilitator may falsely report a settlement; otherwise its clear "settled" is true. */
  readonly boasts: boolean;
  /** Postgres has forgotten an earlier call with the first payload, and the service knows that it may have. */
  readonly forgets: boolean;
  /** All answers of the facilitator, or only the answers that the rules of a session distinguish. */
  readonly answers: 'all' | 'few';
  /** Calls may take time; otherwise each is answered, or cut off, at once. */
  readonly callsLast: boolean;
  /** The endpoint's answers: all, only the truth or nothing, or only the truth. */
  readonly findings: 'all' | 'few' | 'truth';
  /** Workers may stall: between taking a row and calling, or between a check and its write. */
  readonly stallsBefore: 'call' | 'write' | 'nothing';
  /** The configured clock is this many ticks ahead of the true one. */
  readonly clockAhead: number;
  /** The number of payments that may claim the session. */
  readonly payments: 1 | 2;
  /** The number of earlier payments that were refused falsely: their money has moved. */
  readonly refusedFalsely: 0 | 2;
  /** The past is remembered this many ticks longer than matters. */
  readonly memory: number;
}

/**
 * One payment that ends soon, all answers, an endpoint that may say less than it knows, and workers that are killed.
 */
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
  forgets: false,
  answers: 'all',
  callsLast: true,
  findings: 'all',
  stallsBefore: 'nothing',
  clockAhead: 0,
  payments: 1,
  refusedFalsely: 0,
  memory: 0,
};

/** The choices that distinguish payments of one session, without the others. */
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
    name: 'workers that stand still after a check',
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
  forgets: { ...PLAIN, name: 'a call that Postgres has forgotten', end: 3, forgets: true },
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
