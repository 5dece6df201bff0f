import type { Settings, Times, WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';

/** The time of every decision. */
export const NOW = new Date('2026-06-01T12:00:00Z');
export const SETTINGS: Settings = { confirmations: 0, settleTimeoutMs: 90_000 };

export function at(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

export function times(ms = 0, ownMs = ms): Times {
  return { now: at(ms), own: at(ownMs) };
}

/** A payment that was sent to `/settle` once, a moment ago. Its authorization ends in five minutes. */
export function aPayment(overrides: Partial<WatchedPayment> = {}): WatchedPayment {
  return {
    status: 'processing',
    validUntil: at(300_000),
    claimedAt: at(-2000),
    dueAt: at(120_000),
    attempt: 2,
    settleCalls: 1,
    settleAskedAt: at(-1500),
    settleEndedAt: at(-1000),
    settleUnclear: false,
    reportedTransaction: null,
    network: 'eip155:8453',
    payer: '0xPayer',
    unusedSeenAt: null,
    unreadableSince: null,
    searchPlace: null,
    usedSeenAt: null,
    failureCode: null,
    failedAt: null,
    ...overrides,
  };
}

/** The same payment with an unclear outcome. */
export function unclearPayment(overrides: Partial<WatchedPayment> = {}): WatchedPayment {
  return aPayment({ settleUnclear: true, ...overrides });
}
