import assert from 'node:assert/strict';
import type { ChainFinding, Finding } from '../../../shared/chains/check/finding.js';
import { afterCheck } from '../../../shared/settlement/policy/after-check.js';
import type { Settings, Times, WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';
import { at, SETTINGS, times, unclearPayment } from './a-payment.js';

export const HASH = '0xabc';
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const paid = (confirmations: number): Finding<'paid'> => ({
  kind: 'paid',
  transaction: HASH,
  height: 1,
  proofIndex: 3,
  payer: '0xpayer',
  confirmations,
});
export const unused = (chainMs: number, exhausted = false): Finding<'unused'> => ({
  kind: 'unused',
  chainTime: at(chainMs),
  exhausted,
});
/** A payment whose authorization ends far ahead, a quarter of an hour after its last call. */
export const FAR: Partial<WatchedPayment> = { validUntil: at(12 * HOUR), settleEndedAt: at(-15 * MINUTE) };
export const SILENT: Finding<'unreadable'> = {
  kind: 'unreadable',
  reason: 'HTTP 500',
};
export const USED: Finding<'used'> = { kind: 'used', reason: 'no log' };
export const SEARCHING: Finding<'searching'> = { kind: 'searching', reason: 'more' };

/** One chain check and its decision. */
interface Row {
  what: string;
  finding: ChainFinding;
  payment?: WatchedPayment;
  isValid?: boolean;
  commitsMayBeLost?: boolean;
  settings?: Settings;
  times?: Times;
  /** The kind of the decision, with its time or its code. */
  says: unknown[];
}

export function inShort({
  finding,
  payment = unclearPayment(),
  isValid,
  commitsMayBeLost = false,
  settings = SETTINGS,
  times: when = times(),
}: Row): unknown[] {
  const decision = afterCheck(
    payment,
    { finding, commitsMayBeLost, ...(isValid !== undefined && { isValid }) },
    settings,
    when,
  );
  switch (decision.kind) {
    case 'fail':
      return ['fail', decision.code, decision.watchAt];
    case 'check_again':
    case 'settle_again':
      return [decision.kind, decision.at];
    default:
      return [decision.kind];
  }
}

export function hold(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const row of rows) it(`${row.what}: ${row.says[0]}`, () => assert.deepEqual(inShort(row), row.says));
  });
}
