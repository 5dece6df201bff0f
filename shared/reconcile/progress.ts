import type { Arrival } from '../chains/check/arrival.js';
import type { NewPosition } from './open-list.js';
import type { Position } from './positions.js';

/**
 * Transfers that one position keeps to be looked at again, or one block's. A list with more of them is read again from the next
 * one on.
 */
const MAX_WAITING = 1000;

/** The transfers that a list's runs have dealt with, by name, each with its block or slot. */
export interface Progress {
  reported: Map<string, number>;
  /**
   * Arrivals that could not be proven for a repair, or whose payment was not decided yet: the next run looks at them again.
   */
  waiting: Map<string, number>;
}

/** A transfer of an earlier run that this run looks at by itself, since its block or slot is not read again. */
export interface WaitingTransfer {
  name: string;
  height: number;
  transaction: string;
  payTo: string;
}

export function nameOf({ transaction, proofIndex, payTo, asset }: Arrival): string {
  return [transaction, proofIndex, payTo, asset].join(' ');
}

export function transactionOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

/** The transfers wait until they are judged, so that an endpoint that fails meanwhile loses none. */
export function openProgress(
  reported: Position['reported'],
  waiting: readonly WaitingTransfer[] = [],
): Progress {
  return {
    reported: new Map(reported),
    waiting: new Map(waiting.map(({ name, height }) => [name, height])),
  };
}

export function waitingOf({ unchecked }: Position): WaitingTransfer[] {
  return unchecked.map((stored) => {
    const [height, ...name] = stored.split(' ');
    const [transaction = '', , payTo = ''] = name;
    return { name: name.join(' '), height: Number(height), transaction, payTo };
  });
}

/** The position of a list that is read up to, but not including, this block or slot. */
export function positionAt({ reported, waiting }: Progress, height: number): NewPosition {
  const passed = [...waiting].filter(([, at]) => at < height).sort(([, one], [, other]) => one - other);
  const [first] = passed;
  const beyond = passed[MAX_WAITING];
  const position = first && beyond ? Math.max(beyond[1], first[1] + 1) : height;
  const waitingAt = new Set(waiting.values());
  return {
    position,
    // A block may wait that an earlier run has read: an endpoint lowers its limits.
    reported: [...reported].filter(([, at]) => at >= position || waitingAt.has(at)),
    unchecked: passed.flatMap(([name, at]) => (at < position ? [`${at} ${name}`] : [])),
  };
}
