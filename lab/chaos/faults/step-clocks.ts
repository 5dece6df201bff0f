import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../system/system.js';
import { deckOf, drawMs, type Fault } from './fault.js';

/** The fault of the journal. */
export const CLOCK_SET = 'a clock set';

/** A clock is set, and after a moment set right again: Postgres', Redis', or that of a process' host. */
const SECONDS = [3600, -3600, 900, -900, 45, -45] as const;
const LENGTHS_MS = [500, 6000] as const;
const RETRY_MS = 200;
const WHOSE = ['Postgres', 'Postgres', 'Redis', 'web', 'worker', 'worker'] as const;

export function stepClocks(): Fault {
  const drawWhose = deckOf(WHOSE);
  const drawSeconds = deckOf(SECONDS);
  return {
    everyMs: 5000,
    async inject(system, random, wait) {
      const whose = drawWhose(random);
      const seconds = drawSeconds(random);
      const lengthMs = drawMs(random, LENGTHS_MS);
      const services = system.services.filter(({ kind }) => kind === whose);
      const host = services.length === 0 ? undefined : deckOf(services)(random);
      const set = (ms: number): Promise<void> => (host ? host.stepClock(ms) : setStore(system, whose, ms));
      // The store may be unavailable for a moment.
      if (await succeeds(set(seconds * 1000))) await wait(lengthMs);
      while (!(await succeeds(set(0)))) await sleep(RETRY_MS);
      const detail = `${host?.name ?? whose} by ${seconds} s, ${lengthMs} ms`;
      return { fault: CLOCK_SET, detail, ...(host && { services: [host.name] }) };
    },
  };
}

/** Sets every clock right. */
export async function setClocksRight(system: System): Promise<void> {
  for (const service of system.services) await service.stepClock(0);
  await system.postgres.setClock(0);
  system.redis.setClock(0);
}

async function setStore({ postgres, redis }: System, whose: string, ms: number): Promise<void> {
  if (whose === 'Postgres') await postgres.setClock(ms);
  else redis.setClock(ms);
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
