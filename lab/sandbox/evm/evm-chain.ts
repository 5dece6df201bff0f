import type { Address } from 'viem';
import type { EvmNetwork } from '../../../shared/chains/networks/networks.js';
import type { RpcEndpoint } from '../../world/chains/rpc-endpoint.js';
import type { PreferredPort } from '../../world/http/listen.js';
import type { Dials } from '../dials/dials.js';
import { EVM_FACILITATOR_KEY } from '../networks/wallets.js';
import { startAnvil } from './anvil.js';
import { openFront } from './front.js';
import { type LocalChain, openLocalChain } from './local-chain.js';
import { fundTokens, seedTokens } from './seed-tokens.js';

/**
 * A block is mined with each transaction, and every second besides, since a chain check waits for newer blocks. An idle
 * chain mines one block in half a minute: each costs memory, and time at the next start.
 */
export interface EvmChain {
  network: EvmNetwork;
  /** The public endpoint, with the dials of any chain's endpoint. */
  endpoint: RpcEndpoint;
  url: string;
  /** Controls the chain, and signs with the facilitator's key. */
  client: LocalChain;
  /** Marks the chain as in use. */
  touch(): void;
  setBlocks(pace: Dials['blocks']): Promise<void>;
  fund(wallet: Address): Promise<void>;
  readonly exited: Promise<unknown>;
  stop(): Promise<void>;
}

interface EvmChainOptions {
  network: EvmNetwork;
  port: PreferredPort;
  stateFile?: string | undefined;
}

const BLOCK_SECONDS = { at_once: 1, slow: 3, halted: Number.POSITIVE_INFINITY } as const;
const IDLE_AFTER_SECONDS = 120;
const IDLE_BLOCK_SECONDS = 30;

export async function startEvmChain({ network, port, stateFile }: EvmChainOptions): Promise<EvmChain> {
  const anvil = await startAnvil({ chainId: network.chainId, stateFile });
  const client = openLocalChain(network, anvil.url, EVM_FACILITATOR_KEY);
  const prepare = async (): Promise<RpcEndpoint> => {
    await seedTokens(network, client);
    // The newest block may be from the previous start.
    await client.mine({ blocks: 1 });
    return await openFront(anvil.url, port);
  };
  const front = await prepare().catch(async (error: unknown) => {
    await anvil.stop();
    throw error;
  });
  let pace: Dials['blocks'] = 'at_once';
  let idleSeconds = IDLE_AFTER_SECONDS;
  let sinceBlock = 0;
  const heartbeat = setInterval(() => {
    idleSeconds += 1;
    sinceBlock += 1;
    const everySeconds = idleSeconds > IDLE_AFTER_SECONDS ? IDLE_BLOCK_SECONDS : BLOCK_SECONDS[pace];
    if (pace === 'halted' || sinceBlock < everySeconds) return;
    sinceBlock = 0;
    client.mine({ blocks: 1 }).catch(() => {
      // Anvil has ended: `exited` reports it.
    });
  }, 1000);
  heartbeat.unref();
  return {
    network,
    endpoint: front,
    url: front.url,
    client,
    touch() {
      idleSeconds = 0;
    },
    async setBlocks(wanted) {
      pace = wanted;
      await client.setAutomine(wanted === 'at_once');
      if (wanted === 'at_once') await client.mine({ blocks: 1 });
    },
    fund: (wallet) => fundTokens(network, client, wallet),
    exited: anvil.exited,
    async stop() {
      clearInterval(heartbeat);
      await front.close();
      await anvil.stop();
    },
  };
}
