import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import type { Random } from '../../world/chance/seeded-random.js';
import type { Way } from '../../world/proxies/freezing-proxy.js';
import type { Target } from '../stage/links.js';
import { QUERY_TIMEOUT_MS } from '../stage/service-environment.js';
import type { Stage } from '../stage/stage.js';
import { deckOf, drawMs, type Fault } from './fault.js';

/**
 * Connections stand still and then deliver what was sent meanwhile: those of one process, or of all, as behind a pooler
 * that is told to PAUSE; every connection, or some; both ways, or one. Often for longer than a statement is waited for.
 */
const WHERE = ['one process', 'one process', 'one process', 'one process', 'all processes'] as const;
const WAYS: Record<string, readonly Way[]> = {
  'both ways': ['up', 'down'],
  'on the way there': ['up'],
  'on the way back': ['down'],
};
const SHARES = { 'every connection': 1, 'some connections': 0.4 };
const LENGTHS_MS = [
  [200, 1000],
  [1000, 5000],
  [3500, 8000],
] as const;
const LAST_MS = QUERY_TIMEOUT_MS + 1500;
const LAST_WRITES = 40;
const AMID_WRITING_MS = 30;

export function freezeLinks(targets: readonly Target[], everyMs: number): Fault {
  const drawTarget = deckOf(targets);
  const drawWhere = deckOf(WHERE);
  const drawWays = deckOf(Object.keys(WAYS));
  const drawShare = deckOf(Object.entries(SHARES));
  const drawLength = deckOf(LENGTHS_MS);
  return {
    everyMs,
    async strike({ links, services }: Stage, random: Random, last) {
      const target = drawTarget(random);
      const where = drawWhere(random);
      const names = services.map(({ name }) => name);
      const frozen = where === 'all processes' ? names : [deckOf(names)(random)];
      const ways = drawWays(random);
      const [which, share] = drawShare(random);
      const lengthMs = drawMs(random, drawLength(random));
      const holds = (): boolean => random() < share;
      const freeze = links.freeze(target, { ways: WAYS[ways] ?? [], holds }, frozen);
      await last(lengthMs);
      freeze.thaw();
      const detail = `${frozen.join(', ')}: ${which} ${ways}, ${lengthMs} ms`;
      return { fault: `connections to ${target} frozen`, detail, services: frozen, target };
    },
  };
}

/**
 * The last thing that is done: while the merchant writes, half of all connections stand still until every statement on
 * them has been given up, and deliver them. Nobody is killed any more who was left in a transaction by it.
 */
export async function freezeOnceMore(
  stage: Stage,
  random: Random,
  write: () => Promise<void>,
): Promise<void> {
  const at = nowMs();
  const writing = Promise.all(Array.from({ length: LAST_WRITES }, write));
  writing.catch(() => undefined); // Told below.
  await sleep(AMID_WRITING_MS);
  const freeze = stage.links.freeze('Postgres', { ways: ['up', 'down'], holds: () => random() < 0.5 });
  await sleep(LAST_MS);
  freeze.thaw();
  await writing;
  const fault = 'connections to Postgres frozen, and nobody killed';
  stage.journals.faults.write({ at, ms: nowMs() - at, fault, target: 'Postgres' });
}
