import type { ChainFinding } from '../../../shared/chains/finding.js';
import { AFTER_TIMEOUT_MS } from '../../../shared/settlement/policy/limits.js';
import type { Answered } from './reply.js';

/** A call of `/settle`, as the facilitator knows it. */
export interface Call {
  paymentId: string;
  nonce: string;
  startedMs: number;
  /** When it surely has ended, whatever we know of it. */
  overMs: number;
  /** Undefined until we have read an answer. */
  answered: Answered | undefined;
  /** What a look would have seen when it was answered. */
  visible: ChainFinding['kind'] | undefined;
}

export interface Look {
  run: Run;
  atMs: number;
  finding: ChainFinding;
}

/** One run of a handler: what it was told, in order. */
export interface Run {
  paymentId: string;
  call: Call | undefined;
  isOver: boolean;
  /** Killed, or its row was taken from it: what it was told may never have counted. */
  isCutOff: boolean;
}

/** How a payment has failed. */
export interface Failing {
  paymentId: string;
  atMs: number;
  by: 'operator' | Run;
}

/** A buyer was told that its money has not moved. */
export interface Told {
  nonce: string;
  words: string;
  atMs: number;
  /** Payments of this payload at that time. */
  paymentIds: string[];
}

/** What happened in a trial, seen from outside. */
export class Journal {
  readonly calls: Call[] = [];
  readonly looks: Look[] = [];
  readonly runs: Run[] = [];
  readonly failings: Failing[] = [];
  readonly told: Told[] = [];
  readonly violations: string[] = [];

  beginRun(paymentId: string): Run {
    const run: Run = { paymentId, call: undefined, isOver: false, isCutOff: false };
    this.runs.push(run);
    return run;
  }

  /** Two calls for one payload may never be under way at once. */
  beginCall(run: Run, nonce: string, startedMs: number, timeoutMs: number): Call {
    const other = this.calls.find((call) => call.nonce === nonce && call.overMs > startedMs);
    if (other !== undefined)
      this.violations.push(
        `/settle was called for a payload ${(startedMs - other.startedMs) / 1000} s after a call that may be under way`,
      );
    const overMs = startedMs + timeoutMs + AFTER_TIMEOUT_MS;
    this.#takeOver(run);
    const { paymentId } = run;
    const call: Call = { paymentId, nonce, startedMs, overMs, answered: undefined, visible: undefined };
    run.call = call;
    this.calls.push(call);
    return call;
  }

  addLook(look: Look): void {
    this.#takeOver(look.run);
    this.looks.push(look);
  }

  /** Whoever calls out has the row. */
  #takeOver(by: Run): void {
    const newer = this.runs.indexOf(by);
    for (const run of this.runs.slice(0, newer))
      if (run.paymentId === by.paymentId && !run.isOver) run.isCutOff = true;
  }
}
