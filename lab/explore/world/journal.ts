import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { AFTER_TIMEOUT_MS } from '../../../shared/settlement/policy/limits.js';
import type { Certainty } from '../../world/facilitator/settle-faults.js';

/** A `/settle` call, as the facilitator knows it. */
export interface Call {
  paymentId: string;
  nonce: string;
  startedMs: number;
  /** When the call has certainly ended. */
  overMs: number;
  /** Undefined until the caller has read an answer. */
  meaning: Certainty | undefined;
}

export interface ChainCheck {
  run: Run;
  atMs: number;
  finding: ChainFinding;
}

/** A run of a handler. */
export interface Run {
  paymentId: string;
  call: Call | undefined;
  isOver: boolean;
  /** The worker was killed, or lost its row: its findings may not have counted. */
  isCutOff: boolean;
}

/** A payment that was failed. */
export interface FailedPayment {
  paymentId: string;
  /** The payment's `failure_code`, which its link tells the buyer. */
  code: string | null;
  atMs: number;
  by: 'operator' | Run;
}

/** A buyer was told that its money has not moved. */
interface Denial {
  nonce: string;
  words: string;
  atMs: number;
  /** The payload's payments at that time. */
  paymentIds: string[];
}

/** The externally visible events of a trial. */
export class Journal {
  readonly calls: Call[] = [];
  readonly checks: ChainCheck[] = [];
  readonly runs: Run[] = [];
  readonly failedPayments: FailedPayment[] = [];
  readonly denials: Denial[] = [];
  readonly violations: string[] = [];

  beginRun(paymentId: string): Run {
    const run: Run = { paymentId, call: undefined, isOver: false, isCutOff: false };
    this.runs.push(run);
    return run;
  }

  /** Two calls for one payload must never be in flight at once. */
  beginCall(run: Run, nonce: string, startedMs: number, timeoutMs: number): Call {
    const other = this.calls.find((call) => call.nonce === nonce && call.overMs > startedMs);
    if (other !== undefined)
      this.violations.push(
        `/settle was called for a payload ${(startedMs - other.startedMs) / 1000} s after a call that may be in flight`,
      );
    const overMs = startedMs + timeoutMs + AFTER_TIMEOUT_MS;
    this.#takeOver(run);
    const { paymentId } = run;
    const call: Call = { paymentId, nonce, startedMs, overMs, meaning: undefined };
    run.call = call;
    this.calls.push(call);
    return call;
  }

  addCheck(check: ChainCheck): void {
    this.#takeOver(check.run);
    this.checks.push(check);
  }

  /** The worker that calls out has the row. */
  #takeOver(by: Run): void {
    const newer = this.runs.indexOf(by);
    for (const run of this.runs.slice(0, newer))
      if (run.paymentId === by.paymentId && !run.isOver) run.isCutOff = true;
  }
}
