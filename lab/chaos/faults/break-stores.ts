import type { Random } from '../../world/chance/seeded-random.js';
import type { Target } from '../stage/links.js';
import type { Stage } from '../stage/stage.js';
import { type Done, deckOf, drawMs, type Fault } from './fault.js';

/** What stores, and the connections of all processes to them and to the facilitator, are made to suffer. */
type Break = (stage: Stage, lengthMs: number, last: (ms: number) => Promise<void>) => Promise<void>;

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
      async breaks({ links }, lengthMs, last) {
        await links.refuse(target);
        await last(lengthMs);
        await links.accept(target);
      },
    },
  };
}

export function breakStores(): Fault {
  const draw = deckOf(Object.entries(BREAKS));
  return {
    everyMs: 1500,
    async strike(stage: Stage, random: Random, last): Promise<Done> {
      const [fault, { target, breaks }] = draw(random);
      await breaks(stage, drawMs(random, LENGTHS_MS), last);
      return { fault, target };
    },
  };
}

/** Whatever was left broken. */
export async function mendConnections({ links, chains }: Stage): Promise<void> {
  await links.mend();
  for (const chain of Object.values(chains)) chain.order('heal');
}
