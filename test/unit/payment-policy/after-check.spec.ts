import type { WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';
import { aPayment, at, SETTINGS, times, unclearPayment } from './a-payment.js';
import { DAY, FAR, HASH, HOUR, hold, MINUTE, paid, SEARCHING, SILENT, USED, unused } from './check-rows.js';

/** The first pause between checks. */
const SOON = at(2000);

hold('the transfer was found', [
  { what: 'in the newest block', finding: paid(1), says: ['succeed'] },
  { what: 'in a block that no longer counts', finding: paid(0), says: ['check_again', SOON] },
  {
    what: 'with one confirmation too few',
    finding: paid(2),
    settings: { ...SETTINGS, confirmations: 3 },
    says: ['check_again', SOON],
  },
  {
    what: 'with all of them',
    finding: paid(3),
    settings: { ...SETTINGS, confirmations: 3 },
    says: ['succeed'],
  },
  {
    what: 'and may still be dropped',
    finding: { kind: 'pending', transaction: HASH },
    says: ['check_again', SOON],
  },
]);

hold('the authorization was used up without paying', [
  {
    what: 'for certain',
    finding: { kind: 'spent_otherwise', transaction: HASH },
    says: ['fail', 'invalid_transaction_state', at(2 * MINUTE)],
  },
  { what: 'by what is not known', finding: USED, says: ['check_again', SOON] },
  {
    what: 'by what is not known, a day after its end',
    finding: USED,
    payment: unclearPayment({ validUntil: at(-DAY) }),
    says: ['check_again', SOON],
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
    says: ['check_again', SOON],
  },
  {
    what: 'it is unused in a later block',
    finding: unused(-999),
    payment: unclearPayment(REFUSED),
    says: ['fail', 'insufficient_funds', WATCHED],
  },
  {
    what: 'it is unused in a block that is as far ahead of both clocks as clocks may differ',
    finding: unused(30_000),
    payment: unclearPayment(REFUSED),
    says: ['fail', 'insufficient_funds', WATCHED],
  },
  {
    what: 'it is unused in a block that is further ahead of both clocks',
    finding: unused(30_001),
    payment: unclearPayment(REFUSED),
    says: ['settle_again', at(0)],
  },
  {
    what: "it is unused in a block that is further ahead of the host's clock alone",
    finding: unused(30_000),
    payment: unclearPayment(REFUSED),
    times: times(0, -1),
    says: ['settle_again', at(0)],
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
  { what: 'it is used', finding: USED, payment: unclearPayment(REFUSED), says: ['check_again', SOON] },
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
  { what: 'and /verify does not', finding: SILENT, isValid: false, says: ['check_again', SOON] },
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
    says: ['check_again', SOON],
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
    says: ['check_again', SOON],
  },
  {
    what: 'for a day by one of two clocks',
    finding: SILENT,
    payment: unclearPayment(OVER),
    times: times(0, -1),
    says: ['check_again', SOON],
  },
  {
    what: 'for a minute, a day after its end',
    finding: SILENT,
    payment: unclearPayment({ validUntil: at(-DAY), unreadableSince: at(-MINUTE) }),
    says: ['check_again', SOON],
  },
  {
    what: 'for a day, after its end by one of two clocks',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, validUntil: at(0) }),
    times: times(0, -1),
    says: ['check_again', SOON],
  },
  {
    what: 'for a day, after it was seen used',
    finding: SILENT,
    payment: unclearPayment({ ...OVER, usedSeenAt: at(-HOUR) }),
    says: ['check_again', SOON],
  },
  {
    what: 'for a day, after the facilitator clearly said that it settled',
    finding: SILENT,
    payment: aPayment({ ...OVER, reportedTransaction: HASH }),
    says: ['check_again', SOON],
  },
  {
    what: 'but that the chain stands still at its end',
    finding: { ...SILENT, chainTime: at(-MINUTE) },
    payment: unclearPayment(OVER),
    says: ['check_again', SOON],
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
    what: 'is told once a check sees it unused',
    finding: unused(0),
    payment: unclearPayment({ failureCode: 'insufficient_funds' }),
    says: ['fail', 'insufficient_funds', at(360_000)],
  },
  {
    what: 'is not told while Postgres may have forgotten a call that may still use it',
    finding: unused(0),
    payment: unclearPayment({ failureCode: 'insufficient_funds', settleCalls: 6 }),
    commitsMayBeLost: true,
    says: ['check_again', SOON],
  },
]);

hold('a search goes on', [
  { what: 'while time is left', finding: SEARCHING, says: ['ask_verify'] },
  {
    what: 'further than before',
    finding: { ...SEARCHING, position: { block: 2 } },
    isValid: false,
    payment: unclearPayment({ searchPlace: { block: 1 } }),
    says: ['check_again', at(1000)],
  },
  {
    what: 'where it was',
    finding: { ...SEARCHING, position: { block: 1 } },
    isValid: false,
    payment: unclearPayment({ searchPlace: { block: 1 } }),
    says: ['check_again', SOON],
  },
  {
    what: 'a week after its end',
    finding: SEARCHING,
    payment: unclearPayment({ validUntil: at(-7 * DAY), unreadableSince: at(-DAY) }),
    says: ['check_again', SOON],
  },
]);
