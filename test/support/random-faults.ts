import { setTimeout as sleep } from 'node:timers/promises';
import type { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { LOG_REFUSALS, type LogRefusal } from '../../lab/world/chains/log-refusals.js';
import { pick, type Random } from '../../lab/world/chance/seeded-random.js';
import type { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';

/** The parts around the service in which faults are injected for a while. */
export interface FaultTargets {
  chain: EvmChain;
  facilitator: TcpProxy;
  /** The proxies between the processes and Postgres. */
  databases: readonly TcpProxy[];
  /** Longer than the timeout of a statement. */
  freezeMs: number;
}

/** Begins a fault, and returns the function that ends it. */
type Fault = (around: FaultTargets, random: Random) => Promise<() => unknown>;

const RANGES = [1, 10, 100, 2000] as const;
const DEPTHS = [0, 5, 128] as const;
const WORDS = Object.keys(LOG_REFUSALS) as LogRefusal[];

export const FAULTS: readonly Fault[] = [
  async ({ facilitator }) => {
    await facilitator.refuse();
    return () => facilitator.accept();
  },
  async ({ chain }, random) => {
    chain.endpoint.fail(pick(random, ['http_500', 'http_429', 'cut', 'garbage']));
    return () => chain.endpoint.recover();
  },
  async ({ chain }, random) => {
    chain.endpoint.fail(pick(random, ['http_429', 'http_500']), pick(random, ['eth_getLogs', 'eth_call']));
    return () => chain.endpoint.recover();
  },
  async ({ chain }, random) => {
    chain.maxLogRange = pick(random, RANGES);
    chain.logRefusal = pick(random, WORDS);
    chain.keepsState = pick(random, DEPTHS);
    return () => {
      chain.maxLogRange = Number.POSITIVE_INFINITY;
      chain.keepsState = Number.POSITIVE_INFINITY;
    };
  },
  async ({ chain }) => {
    chain.hidesLogs = true;
    return () => {
      chain.hidesLogs = false;
    };
  },
  async ({ chain }) => {
    chain.halt();
    return () => chain.resume();
  },
  async ({ chain }, random) => {
    chain.nodes.spread([0, 1 + Math.floor(random() * 4)], random);
    return () => chain.nodes.spread([0]);
  },
  async ({ databases, freezeMs }, random) => {
    const frozen = databases.filter(() => random() < 0.7);
    const ways = pick(random, [['up'], ['down'], ['up', 'down']] as const);
    const freezes = frozen.map((each) => each.freeze({ ways, holds: () => random() < 0.8 }));
    return async () => {
      await sleep(freezeMs);
      for (const freeze of freezes) freeze.thaw();
    };
  },
];
