import type { WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';
import { aPayment, at, RULES, times, unclearPayment } from './a-payment.js';
import { DAY, HASH, HOUR, hold, MINUTE, paid, SEARCHING, SILENT, USED, unused } from './look-rows.js';

/** The first pause between looks. */
const SOON = at(2000);

hold('the transfer was found', [
  { what: 'in the newest block', finding: paid(1), says: ['succeed'] },
  { what: 'in a block that no longer counts', finding: paid(0), says: ['look_again', SOON] },
  {
    what: 'with one confirmation too few',
    finding: paid(2),
    rules: { ...RULES, confirmations: 3 },
    says: ['look_again', SOON],
  },
  { what: 'with all of them', finding: paid(3), rules: { ...RULES, confirmations: 3 }, says: ['succeed'] },
  {
    what: 'and may still be dropped',
    finding: { kind: 'pending', transaction: HASH },
    says: ['look_again', SOON],
  },
]);

hold('the authorization was used up without paying', [
  {
    what: 'for certain',
    finding: { kind: 'spent_otherwise', transaction: HASH },
    says: ['fail', 'invalid_transaction_state', at(2 * MINUTE)],
  },
  { what: 'by what is not known', finding: USED, says: ['look_again', SOON] },
  {
    what: 'by what is not known, a day after its end',
    finding: USED,
    payment: unclearPayment({ validUntil: at(-DAY) }),
    says: ['look_again', SOON],
  },
]);

hold('the authorization is unused', [
  { what: 'in a block as old as the call', finding: unused(-1000), says: ['look_again', SOON] },
  { what: 'in a later block', finding: unused(-999), says: ['settle_again', at(0)] },
  {
    what: 'in a block of before the surely last moment of a call that never ended',
    finding: unused(118_500),
    payment: unclearPayment({ settleEndedAt: null }),
    says: ['look_again', SOON],
  },
  {
    what: 'in a block after that',
    finding: unused(118_501),
    payment: unclearPayment({ settleEndedAt: null }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'while a transaction that was named has half a minute to land',
    finding: unused(0),
    payment: unclearPayment({ reportedTransaction: HASH, settleEndedAt: at(-29_999) }),
    says: ['look_again', SOON],
  },
  {
    what: 'half a minute after a transaction was named',
    finding: unused(0),
    payment: unclearPayment({ reportedTransaction: HASH, settleEndedAt: at(-30_000) }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'after the sixth call',
    finding: unused(0),
    payment: unclearPayment({ settleCalls: 6, attempt: 7 }),
    says: ['look_again', SOON],
  },
  {
    what: 'ten seconds before its end',
    finding: unused(0),
    payment: unclearPayment({ validUntil: at(10_000) }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'a millisecond later',
    finding: unused(0),
    payment: unclearPayment({ validUntil: at(9999) }),
    says: ['look_again', SOON],
  },
  {
    what: 'and can never be used',
    finding: unused(0, true),
    says: ['fail', 'unexpected_settle_error', at(2 * MINUTE)],
  },
]);

const FAR: Partial<WatchedPayment> = { validUntil: at(12 * HOUR), settleEndedAt: at(-15 * MINUTE) };
hold('the authorization is unused, and its end is far ahead', [
  {
    what: 'a moment before a quarter of an hour is over',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, settleEndedAt: at(-15 * MINUTE + 1) }),
    says: ['settle_again', at(0)],
  },
  {
    what: 'the first of two looks',
    finding: unused(0),
    payment: unclearPayment(FAR),
    says: ['look_again', at(15_000)],
  },
  {
    what: 'a second look too soon',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, unusedSeenAt: at(-14_999) }),
    says: ['look_again', at(1)],
  },
  {
    what: 'the second look',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, unusedSeenAt: at(-15_000) }),
    says: ['fail', 'outcome_unknown', at(HOUR)],
  },
  {
    what: 'a second look whose time has come by one of two clocks',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, settleEndedAt: at(-HOUR), unusedSeenAt: at(-15_000) }),
    times: times(0, -1),
    says: ['look_again', SOON],
  },
  {
    what: 'the first look at a chain on which a quarter of an hour is not over',
    finding: unused(-1),
    payment: unclearPayment({ ...FAR, settleCalls: 6, attempt: 7 }),
    says: ['look_again', SOON],
  },
  {
    what: 'a second look at a block that is not later than the first look',
    finding: unused(-20_000),
    payment: unclearPayment({ ...FAR, settleEndedAt: at(-HOUR), unusedSeenAt: at(-20_000) }),
    says: ['look_again', SOON],
  },
]);

hold('an earlier look saw the authorization used, and it is unused', [
  {
    what: 'in a block that is not later, after a refusal',
    finding: unused(-500),
    payment: unclearPayment({ usedSeenAt: at(-500), failureCode: 'insufficient_funds' }),
    says: ['look_again', SOON],
  },
  {
    what: 'in a block that is not later, for good',
    finding: unused(-500, true),
    payment: unclearPayment({ usedSeenAt: at(-500) }),
    says: ['look_again', SOON],
  },
  {
    what: 'in a later block',
    finding: unused(-499),
    payment: unclearPayment({ usedSeenAt: at(-500) }),
    says: ['settle_again', at(0)],
  },
]);

const REFUSED: Partial<WatchedPayment> = { failureCode: 'insufficient_funds' };
/** A minute after the end of the authorization. */
const WATCHED = at(6 * MINUTE);
hold('the facilitator refused it as it would a used authorization, and', [
  {
    what: 'it is unused in a block as old as the call',
    finding: unused(-1000),
    payment: unclearPayment(REFUSED),
    says: ['look_again', SOON],
  },
  {
    what: 'it is unused in a later block',
    finding: unused(-999),
    payment: unclearPayment(REFUSED),
    says: ['fail', 'insufficient_funds', WATCHED],
  },
  {
    what: 'it is unused, and its end is far ahead',
    finding: unused(0),
    payment: unclearPayment({ ...FAR, ...REFUSED }),
    says: ['fail', 'insufficient_funds', at(HOUR)],
  },
  {
    what: 'it can never be used',
    finding: unused(0, true),
    payment: unclearPayment(REFUSED),
    says: ['fail', 'insufficient_funds', at(2 * MINUTE)],
  },
  { what: 'it has paid', finding: paid(1), payment: unclearPayment(REFUSED), says: ['succeed'] },
  { what: 'it is used', finding: USED, payment: unclearPayment(REFUSED), says: ['look_again', SOON] },
  {
    what: 'it is used up otherwise',
    finding: { kind: 'spent_otherwise', transaction: HASH },
    payment: unclearPayment(REFUSED),
    says: ['fail', 'invalid_transaction_state', at(2 * MINUTE)],
  },
  { what: 'nothing can be read', finding: SILENT, payment: unclearPayment(REFUSED), says: ['ask_verify'] },
  {
    what: 'nothing can be read, and /verify calls it valid',
    finding: SILENT,
    payment: unclearPayment(REFUSED),
    isValid: true,
    says: ['settle_again', at(0)],
  },
]);

const OVER: Partial<WatchedPayment> = { validUntil: at(-MINUTE), unreadableSince: at(-DAY) };
hold('nothing can be read', [
  { what: 'while time is left', finding: SILENT, says: ['ask_verify'] },
  { what: 'and /verify calls it valid', finding: SILENT, isValid: true, says: ['settle_again', at(0)] },
  { what: 'and /verify does not', finding: SILENT, isValid: false, says: ['look_again', SOON] },
  {
    what: 'for a day, after its end',
    finding: SILENT,
    payment: unclearPayment(OVER),
    says: ['fail', 'outcome_unknown', at(HOUR)],
  },
  {
    what: 'for a day, after a recorded refusal',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, ...REFUSED }),
    says: ['fail', 'outcome_unknown', at(HOUR)],
  },
  {
    what: 'for a day, at its end',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, validUntil: at(0) }),
    says: ['fail', 'outcome_unknown', at(HOUR)],
  },
  {
    what: 'for a day, a millisecond before its end',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, validUntil: at(1) }),
    says: ['look_again', SOON],
  },
  {
    what: 'for a day, a quarter of an hour after a call whose authorization ends far ahead',
    finding: SILENT,
    payment: unclearPayment({ ...FAR, unreadableSince: at(-DAY) }),
    says: ['fail', 'outcome_unknown', at(HOUR)],
  },
  {
    what: 'for a millisecond less than a day',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, unreadableSince: at(-DAY + 1) }),
    says: ['look_again', SOON],
  },
  {
    what: 'for a day by one of two clocks',
    finding: SILENT,
    payment: unclearPayment(OVER),
    times: times(0, -1),
    says: ['look_again', SOON],
  },
  {
    what: 'for a minute, a day after its end',
    finding: SILENT,
    payment: unclearPayment({ validUntil: at(-DAY), unreadableSince: at(-MINUTE) }),
    says: ['look_again', SOON],
  },
  {
    what: 'for a day, after its end by one of two clocks',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, validUntil: at(0) }),
    times: times(0, -1),
    says: ['look_again', SOON],
  },
  {
    what: 'for a day, after it was seen used',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, usedSeenAt: at(-HOUR) }),
    says: ['look_again', SOON],
  },
  {
    what: 'for a day, after the facilitator clearly said that it settled',
    finding: SILENT,
    payment: aPayment({ ...OVER, reportedTransaction: HASH }),
    says: ['look_again', SOON],
  },
  {
    what: 'but that the chain stands still at its end',
    finding: { ...SILENT, chainTime: at(-MINUTE) },
    payment: unclearPayment(OVER),
    says: ['look_again', SOON],
  },
  {
    what: 'but that the chain has gone beyond its end',
    finding: { ...SILENT, chainTime: at(-MINUTE + 1) },
    payment: unclearPayment(OVER),
    says: ['fail', 'outcome_unknown', at(HOUR)],
  },
]);

hold('a recorded refusal', [
  {
    what: 'is told once a look sees it unused',
    finding: unused(0),
    payment: unclearPayment({ failureCode: 'insufficient_funds' }),
    says: ['fail', 'insufficient_funds', at(360_000)],
  },
  {
    what: 'is not told while Postgres may have forgotten a call that may still use it',
    finding: unused(0),
    payment: unclearPayment({ failureCode: 'insufficient_funds', settleCalls: 6 }),
    commitsMayBeLost: true,
    says: ['look_again', SOON],
  },
]);

hold('a search goes on', [
  { what: 'while time is left', finding: SEARCHING, says: ['ask_verify'] },
  {
    what: 'further than before',
    finding: { ...SEARCHING, position: { block: 2 } },
    isValid: false,
    payment: unclearPayment({ searchPlace: { block: 1 } }),
    says: ['look_again', at(1000)],
  },
  {
    what: 'where it was',
    finding: { ...SEARCHING, position: { block: 1 } },
    isValid: false,
    payment: unclearPayment({ searchPlace: { block: 1 } }),
    says: ['look_again', SOON],
  },
  {
    what: 'a week after its end',
    finding: SEARCHING,
    payment: unclearPayment({ validUntil: at(-7 * DAY), unreadableSince: at(-DAY) }),
    says: ['look_again', SOON],
  },
]);
