import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import type { Random } from '../../world/chance/seeded-random.js';
import type { Way } from '../../world/proxy/faults.js';
import type { Target } from '../system/links.js';
import { QUERY_TIMEOUT_MS } from '../system/service-variables.js';
import type { System } from '../system/system.js';
import { deckOf, drawMs, type Fault } from './fault.js';

/**
 * Connections freeze and later deliver the bytes sent meanwhile: the connections of one process, or of all, as behind a
 * pooler that is told to PAUSE; every connection, or some; both directions, or one. Often for longer than the statement
 * timeout.
 */
const WHERE = ['one process', 'one process', 'one process', 'one process', 'all processes'] as const;
const WAYS: Record<string, readonly Way[]> = {
  'both ways': ['up', 'down'],
  'to the target': ['up'],
  'from the target': ['down'],
};
const SHARES = { 'every connection': 1, 'some connections': 0.4 };
const LENGTHS_MS = [
  [200, 1000],
  [1000, 5000],
  [3500, 8000],
] as const;
const LAST_MS = QUERY_TIMEOUT_MS + 1500;
const LAST_WRITES = 40;
const AFTER_FIRST_WRITES_MS = 30;

export function freezeLinks(targets: readonly Target[], everyMs: number): Fault {
  const drawTarget = deckOf(targets);
  const drawWhere = deckOf(WHERE);
  const drawWays = deckOf(Object.keys(WAYS));
  const drawShare = deckOf(Object.entries(SHARES));
  const drawLength = deckOf(LENGTHS_MS);
  return {
    everyMs,
    async inject({ links, services }: System, random: Random, wait) {
      const target = drawTarget(random);
      const where = drawWhere(random);
      const names = services.map(({ name }) => name);
      const frozen = where === 'all processes' ? names : [deckOf(names)(random)];
      const ways = drawWays(random);
      const [which, share] = drawShare(random);
      const lengthMs = drawMs(random, drawLength(random));
      const holds = (): boolean => random() < share;
      const freeze = links.freeze(target, { ways: WAYS[ways] ?? [], holds }, frozen);
      await wait(lengthMs);
      freeze.thaw();
      const detail = `${frozen.join(', ')}: ${which} ${ways}, ${lengthMs} ms`;
      return { fault: `connections to ${target} frozen`, detail, services: frozen, target };
    },
  };
}

/**
 * The last fault of a run: while the merchant writes, half of all connections freeze until every statement on them has
 * timed out, and then deliver. No process is killed afterwards, so a transaction left open by this stays visible to the
 * checks.
 */
export async function freezeLast(system: System, random: Random, write: () => Promise<void>): Promise<void> {
  const at = nowMs();
  const writing = Promise.all(Array.from({ length: LAST_WRITES }, write));
  writing.catch(() => undefined); // The error is reported below.
  await sleep(AFTER_FIRST_WRITES_MS);
  const freeze = system.links.freeze('Postgres', { holds: () => random() < 0.5 });
  await sleep(LAST_MS);
  freeze.thaw();
  await writing;
  const fault = 'connections to Postgres frozen, without a kill';
  system.journals.faults.write({ at, ms: nowMs() - at, fault, target: 'Postgres' });
}
