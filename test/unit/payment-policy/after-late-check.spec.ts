import type { WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';
import { at, unclearPayment } from './a-payment.js';
import { DAY, HASH, HOUR, hold, MINUTE, paid, SEARCHING, SILENT, USED, unused } from './check-rows.js';

const failed = (overrides: Partial<WatchedPayment> = {}): WatchedPayment =>
  unclearPayment({ status: 'failed', failedAt: at(-HOUR), validUntil: at(-2 * HOUR), ...overrides });
hold('a payment has failed, and', [
  { what: 'its money came late', finding: paid(1), payment: failed(), says: ['succeed'] },
  {
    what: 'it is pending',
    finding: { kind: 'pending', transaction: HASH },
    payment: failed(),
    says: ['check_again', at(30_000)],
  },
  { what: 'it is used', finding: USED, payment: failed(), says: ['check_again', at(30_000)] },
  { what: 'it is unused', finding: unused(0), payment: failed(), says: ['check_again', at(HOUR)] },
  {
    what: 'it is unused, before its end',
    finding: unused(0),
    payment: failed({ validUntil: at(MINUTE) }),
    says: ['check_again', at(2 * MINUTE)],
  },
  { what: 'it can never be used', finding: unused(0, true), payment: failed(), says: ['stop_watching'] },
  {
    what: 'a block from before the call says that it can never be used',
    finding: unused(-1000, true),
    payment: failed(),
    says: ['check_again', at(HOUR)],
  },
  {
    what: 'it was used up otherwise',
    finding: { kind: 'spent_otherwise', transaction: HASH },
    payment: failed(),
    says: ['stop_watching'],
  },
  { what: 'nothing can be read', finding: SILENT, payment: failed(), says: ['check_again', at(15_000)] },
  {
    what: 'nothing could be read for ten minutes',
    finding: SILENT,
    payment: failed({ unreadableSince: at(-10 * MINUTE) }),
    says: ['check_again', at(10 * MINUTE)],
  },
  {
    what: 'the next check would be within its week',
    finding: unused(0),
    payment: failed({ failedAt: at(-7 * DAY + HOUR) }),
    says: ['check_again', at(HOUR)],
  },
  {
    what: 'its week is over',
    finding: unused(0),
    payment: failed({ failedAt: at(-7 * DAY + HOUR - 1) }),
    says: ['stop_watching'],
  },
  {
    what: 'its week is over, but not at the block that was read',
    finding: unused(-DAY - HOUR - MINUTE),
    payment: failed({ failedAt: at(-8 * DAY) }),
    says: ['check_again', at(HOUR)],
  },
  {
    what: 'its week is over, and at the block that was read, too',
    finding: unused(-DAY - HOUR - MINUTE + 1),
    payment: failed({ failedAt: at(-8 * DAY) }),
    says: ['stop_watching'],
  },
  {
    what: 'its week is over, and the chain has been silent for less than a day',
    finding: SILENT,
    payment: failed({ failedAt: at(-8 * DAY), unreadableSince: at(-DAY + 1) }),
    says: ['check_again', at(HOUR)],
  },
  {
    what: 'its week is over, and the chain has been silent for a day',
    finding: SILENT,
    payment: failed({ failedAt: at(-8 * DAY), unreadableSince: at(-DAY) }),
    says: ['stop_watching'],
  },
  {
    what: 'its week is over, and the first check since then finds it pending',
    finding: { kind: 'pending', transaction: HASH },
    payment: failed({ failedAt: at(-8 * DAY) }),
    says: ['check_again', at(30_000)],
  },
  {
    what: 'its week is over, it was used before, and the first check since then finds no transfer',
    finding: USED,
    payment: failed({ failedAt: at(-8 * DAY), usedSeenAt: at(-8 * DAY) }),
    says: ['check_again', at(30_000)],
  },
  {
    what: 'its week is over, and its checks have left it open for less than a day',
    finding: USED,
    payment: failed({ failedAt: at(-8 * DAY), usedSeenAt: at(-8 * DAY), unreadableSince: at(-DAY + 1) }),
    says: ['check_again', at(30_000)],
  },
  {
    what: 'its week is over, and its checks have left it open for a day',
    finding: USED,
    payment: failed({ failedAt: at(-8 * DAY), usedSeenAt: at(-DAY), unreadableSince: at(-DAY) }),
    says: ['stop_watching'],
  },
  {
    what: 'its week is over, and a transfer has been pending for a day',
    finding: { kind: 'pending', transaction: HASH },
    payment: failed({ failedAt: at(-8 * DAY), unreadableSince: at(-DAY) }),
    says: ['stop_watching'],
  },
  {
    what: 'its week is over, and the search has come further',
    finding: { ...SEARCHING, position: { block: 2 } },
    payment: failed({ failedAt: at(-8 * DAY), searchPlace: { block: 1 } }),
    says: ['check_again', at(1000)],
  },
  {
    what: 'its week is over, and its first search since then has come no further',
    finding: { ...SEARCHING, position: { block: 1 } },
    payment: failed({ failedAt: at(-8 * DAY), searchPlace: { block: 1 } }),
    says: ['check_again', at(2000)],
  },
  {
    what: 'its week is over, and the search has been left open for a day and comes no further',
    finding: { ...SEARCHING, position: { block: 1 } },
    payment: failed({ failedAt: at(-8 * DAY), searchPlace: { block: 1 }, unreadableSince: at(-DAY) }),
    says: ['stop_watching'],
  },
]);
