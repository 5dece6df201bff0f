import type { ClearRefusal, DoubtfulRefusal, UnclearReply } from './replies.js';

/**
 * A trial's steps as plain data: fast-check draws and shrinks them, and they are played in order. Steps inside a step
 * happen during its outside call. Indices are taken modulo the number of items.
 */
export type Step =
  /** A buyer sends a payload to a link; `meanwhile` happens while it waits for the outcome. */
  | { do: 'pay'; session: number; payload: number; verify: VerifyFaultMode; meanwhile: Step[] }
  /** A plain GET of a link. */
  | { do: 'ask'; session: number }
  | Work
  | { do: 'pass'; seconds: number }
  /** A session's time ends, and a worker finds it. */
  | { do: 'expire'; session: number }
  | { do: 'halt chain' }
  | { do: 'resume chain' }
  /** The checks of a day meet the same silence as the last ones. */
  | { do: 'silent day' }
  /** The owner cancels the authorization on the chain. */
  | { do: 'cancel'; payload: number }
  /** An operator states a truth that is certain. */
  | { do: 'resolve'; payment: number };

/** A worker runs for a payment. */
export interface Work {
  do: 'work';
  payment: number;
  /** The number of runs, one after the other, while there is work. */
  times: number;
  /** Before its time nothing is due. */
  when: 'due' | 'now' | 'late';
  settle: SettleFaultMode;
  check: CheckFaultMode;
  /** The answer is from the time of the request. */
  isStale: boolean;
  verify: VerifyFaultMode;
  crash: Crash;
  /** Steps while the worker stalls, between taking the row and its call. */
  stalled: Step[];
  /** Steps during the call of the facilitator, or the chain check. */
  meanwhile: Step[];
}

/** The effect of a `/settle` call: its transaction gets into a block after so many seconds, or never. */
export type Effect = { sends: false } | { sends: true; afterSeconds: number };

/** The facilitator's effect and its answer. */
export type SettleFaultMode =
  | { kind: 'honest' }
  | { kind: 'refuses'; reason: ClearRefusal; effect: Effect }
  | { kind: 'refuses doubtfully'; reason: DoubtfulRefusal; effect: Effect }
  | { kind: 'unclear'; reply: UnclearReply; effect: Effect }
  | { kind: 'turned away'; by: 'ECONNREFUSED' | 401 | 403 | 429 }
  | {
      kind: 'turned away with words';
      status: 401 | 403 | 429;
      words: 'transaction' | 'pending';
      effect: Effect;
    };

export type CheckFaultMode =
  | 'honest'
  | 'behind'
  | 'far behind'
  | 'silent'
  | 'head only'
  | 'used only'
  | 'searching';

export type VerifyFaultMode = 'honest' | 'says valid' | 'refuses' | 'down';

export type Crash =
  | 'none'
  | 'in the call'
  | 'before the write'
  | 'after the write'
  | 'write lost'
  | 'write lost but done';

export interface PayloadPlan {
  buyer: number;
  validSeconds: number;
  /** The buyer sends an idempotency identifier. */
  named: boolean;
}

export interface Setup {
  confirmations: 0 | 2;
  sessions: 1 | 2;
  payloads: PayloadPlan[];
}

export interface Trial {
  setup: Setup;
  steps: Step[];
}

/** A run with honest parties. */
export function honestWork(payment: number): Work {
  return {
    do: 'work',
    payment,
    times: 1,
    when: 'due',
    settle: { kind: 'honest' },
    check: 'honest',
    isStale: false,
    verify: 'honest',
    crash: 'none',
    stalled: [],
    meanwhile: [],
  };
}
