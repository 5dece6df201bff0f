import type { ClearRefusal, DoubtfulRefusal, UnclearReply } from './world/words.js';

/**
 * What a trial does, as plain data: fast-check draws it and makes it smaller, and it is played one step after the other.
 * Steps inside a step happen while its call to the outside is under way. Indices are taken modulo what there is.
 */
export type Step =
  /** A buyer sends a payload to a link; `meanwhile`, while it waits for the outcome. */
  | { do: 'pay'; session: number; payload: number; verify: VerifyMood; meanwhile: Step[] }
  /** A plain GET of a link. */
  | { do: 'ask'; session: number }
  | Work
  | { do: 'pass'; seconds: number }
  /** A session's time is over, and a worker finds it. */
  | { do: 'expire'; session: number }
  | { do: 'halt chain' }
  | { do: 'resume chain' }
  /** Its owner cancels the authorization on the chain. */
  | { do: 'cancel'; payload: number }
  /** An operator says what is true, if it can be said for certain. */
  | { do: 'resolve'; payment: number };

/** A worker is rung for a payment. */
export interface Work {
  do: 'work';
  payment: number;
  /** So often, one after the other, while there is work. */
  times: number;
  /** Before its time nothing is due. */
  when: 'due' | 'now' | 'late';
  settle: SettleMood;
  look: LookMood;
  /** The answer is as old as the question. */
  isStale: boolean;
  verify: VerifyMood;
  crash: Crash;
  /** While the worker stands still, between taking the row and calling out. */
  stalled: Step[];
  /** During the call of the facilitator, or the look at the chain. */
  meanwhile: Step[];
}

/** What the facilitator does with the payload: its transaction gets into a block after so many seconds, or never. */
export type Deed = { sends: false } | { sends: true; afterSeconds: number };

/** What it does, and what it says of it. */
export type SettleMood =
  | { kind: 'honest' }
  | { kind: 'refuses'; reason: ClearRefusal; deed: Deed }
  | { kind: 'refuses doubtfully'; reason: DoubtfulRefusal; deed: Deed }
  | { kind: 'unclear'; reply: UnclearReply; deed: Deed }
  | { kind: 'turned away'; by: 'ECONNREFUSED' | 401 | 403 | 429 }
  | { kind: 'turned away with words'; status: 401 | 403 | 429; words: 'transaction' | 'pending'; deed: Deed };

export type LookMood =
  | 'honest'
  | 'behind'
  | 'far behind'
  | 'silent'
  | 'head only'
  | 'used only'
  | 'searching';

export type VerifyMood = 'honest' | 'says valid' | 'refuses' | 'down';

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
  /** The buyer's own name for it. */
  named: boolean;
}

export interface Setup {
  confirmations: 0 | 2;
  sessions: 1 | 2;
  payloads: PayloadPlan[];
}

export interface Story {
  setup: Setup;
  steps: Step[];
}

/** Everybody does well. */
export function honestWork(payment: number): Work {
  return {
    do: 'work',
    payment,
    times: 1,
    when: 'due',
    settle: { kind: 'honest' },
    look: 'honest',
    isStale: false,
    verify: 'honest',
    crash: 'none',
    stalled: [],
    meanwhile: [],
  };
}
