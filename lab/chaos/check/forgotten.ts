import { STANDBY_PROMOTED } from '../faults/promote-standbys.js';
import type { BuyersEntry, FaultEntry, Received, Transfer } from '../journals/entries.js';

/** The reading of Postgres' position is up to a second late, and requests in flight arrive a little after the failover. */
const BEFORE_MS = 1000;
const AFTER_MS = 5000;

interface Records {
  buyers: readonly BuyersEntry[];
  ledger: readonly Transfer[];
  received: readonly Received[];
  faults: readonly FaultEntry[];
}

/**
 * The sessions and refunds with which something has happened while commits were lost, and the payable of each such event. The
 * weaker promise of a failover holds for them alone.
 */
export function forgottenIn({ buyers, ledger, received, faults }: Records): Set<string> {
  const forgotten = new Set<string>();
  const windows = windowsOf(faults);
  if (windows.length === 0) return forgotten;
  const isIn = (from: number, ms = 0): boolean => overlaps(windows, from, ms);
  const ofNonce = new Map<string, string>();
  for (const entry of buyers) {
    const id = entry.kind === 'refund' ? entry.refundId : entry.sessionId;
    if (entry.kind === 'signed') ofNonce.set(entry.nonce, entry.sessionId);
    if (id !== undefined && isIn(entry.at, 'ms' in entry ? entry.ms : 0)) forgotten.add(id);
  }
  for (const { nonce, at } of ledger) {
    const id = ofNonce.get(nonce);
    if (id !== undefined && isIn(at)) forgotten.add(id);
  }
  for (const { sessionId, at } of received) if (isIn(at)) forgotten.add(sessionId);
  for (const { at, detail } of faults) if (detail !== undefined && isIn(at)) forgotten.add(detail);
  return forgotten;
}

/** Whether a commit of this time may be lost. */
export function isLost(at: number, faults: readonly FaultEntry[]): boolean {
  return overlaps(windowsOf(faults), at, 0);
}

interface Window {
  from: number;
  to: number;
}

function windowsOf(faults: readonly FaultEntry[]): Window[] {
  return faults.flatMap(({ fault, at, ms = 0 }) =>
    fault === STANDBY_PROMOTED ? [{ from: at - BEFORE_MS, to: at + ms + AFTER_MS }] : [],
  );
}

function overlaps(windows: readonly Window[], from: number, ms: number): boolean {
  return windows.some((window) => from <= window.to && from + ms >= window.from);
}
