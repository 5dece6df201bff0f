import type { Random } from '../../world/chance/seeded-random.js';
import type { Target } from '../system/links.js';
import type { System } from '../system/system.js';
import { deckOf, drawMs, type Fault, type Injected } from './fault.js';

/** Faults of the stores, and of all processes' connections to them and to the facilitator. */
type Break = (system: System, lengthMs: number, wait: (ms: number) => Promise<void>) => Promise<void>;

const LENGTHS_MS = [200, 3000] as const;

const BREAKS: Record<string, { target: Target; breaks: Break }> = {
  'Redis emptied': { target: 'Redis', breaks: ({ redis }) => redis.empty() },
  'Redis restarted': { target: 'Redis', breaks: ({ redis }) => redis.restart() },
  'Postgres restarted': { target: 'Postgres', breaks: ({ postgres }) => postgres.restart() },
  'Postgres crashed and restarted': { target: 'Postgres', breaks: ({ postgres }) => postgres.crash() },
  ...connectionsTo('Postgres'),
  ...connectionsTo('Redis'),
  ...connectionsTo('the facilitator'),
};

function connectionsTo(target: Target): typeof BREAKS {
  return {
    [`connections to ${target} cut`]: { target, breaks: async ({ links }) => links.cut(target) },
    [`connections to ${target} refused`]: {
      target,
      async breaks({ links }, lengthMs, wait) {
        await links.refuse(target);
        await wait(lengthMs);
        await links.accept(target);
      },
    },
  };
}

export function breakStores(): Fault {
  const draw = deckOf(Object.entries(BREAKS));
  return {
    everyMs: 1500,
    async inject(system: System, random: Random, wait): Promise<Injected> {
      const [fault, { target, breaks }] = draw(random);
      await breaks(system, drawMs(random, LENGTHS_MS), wait);
      return { fault, target };
    },
  };
}

/** Undoes every fault that is still in place. */
export async function repairConnections({ links, chains }: System): Promise<void> {
  await links.repair();
  for (const chain of Object.values(chains)) chain.order('recover');
}
