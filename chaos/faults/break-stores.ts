import { setTimeout as sleep } from 'node:timers/promises';
import type { TcpProxy } from '../../test/support/pause-points.js';
import { pick, type Random, shuffled } from '../../test/support/seeded-random.js';
import type { Stage } from '../stage/stage.js';
import type { Fault } from './fault.js';

/** What stores, and the connections to them and to the outside, are made to suffer. */
type Break = (stage: Stage, random: Random) => Promise<void>;

const BREAKS: Record<string, Break> = {
  'Redis emptied': ({ redis }) => redis.empty(),
  'Redis restarted': ({ redis }) => redis.restart(),
  'Postgres restarted': ({ postgres }) => postgres.restart(),
  'Postgres crashed and restarted': ({ postgres }) => postgres.crash(),
  'connections to Postgres cut': async ({ postgres }) => postgres.proxy.cut(),
  'connections to Redis cut': async ({ redis }) => redis.proxy.cut(),
  'connections to Postgres refused': ({ postgres }, random) => refuse(postgres.proxy, random),
  'connections to Redis refused': ({ redis }, random) => refuse(redis.proxy, random),
  'Postgres delayed': ({ postgres }, random) => delay(postgres.proxy, random),
  'Redis delayed': ({ redis }, random) => delay(redis.proxy, random),
  'connections to the facilitator cut': async ({ facilitatorProxy }) => facilitatorProxy.cut(),
  'connections to the facilitator refused': ({ facilitatorProxy }, random) =>
    refuse(facilitatorProxy, random),
  'the chain not readable': async ({ chain }, random) => {
    chain.order('fail', { how: pick(random, ['cut', 'http_500']) });
    await sleep(lengthMs(random));
    chain.order('heal');
  },
};

const LONGEST_MS = 3000;

async function refuse(proxy: TcpProxy, random: Random): Promise<void> {
  await proxy.refuse();
  await sleep(lengthMs(random));
  await proxy.accept();
}

async function delay(proxy: TcpProxy, random: Random): Promise<void> {
  proxy.stall();
  await sleep(lengthMs(random));
  proxy.resume();
}

function lengthMs(random: Random): number {
  return 200 + Math.floor(random() * (LONGEST_MS - 200));
}

/** Each has its turn before any has its second. */
export function breakStores(): Fault {
  let deck: string[] = [];
  return {
    everyMs: 1500,
    async strike(stage, random) {
      if (deck.length === 0) deck = shuffled(random, Object.keys(BREAKS));
      const fault = deck.pop() ?? '';
      await BREAKS[fault]?.(stage, random);
      return { fault };
    },
  };
}

/** Whatever was left broken. */
export async function mendConnections({ postgres, redis, facilitatorProxy, chain }: Stage): Promise<void> {
  for (const proxy of [postgres.proxy, redis.proxy, facilitatorProxy]) {
    proxy.resume();
    await proxy.accept();
  }
  chain.order('heal');
}
