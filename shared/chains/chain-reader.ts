import { setTimeout as sleep } from 'node:timers/promises';
import { unixSeconds } from '../wire/timestamp.js';
import type { Arrival } from './check/arrival.js';
import { ChainCheck } from './check/chain-check.js';
import { ChainUnreadable, unreadableReason } from './check/unreadable.js';
import { BlockClock } from './evm/block-clock.js';
import { type EvmArrivals, readEvmArrivals } from './evm/evm-arrivals.js';
import { readLowestHead } from './evm/evm-heads.js';
import { blockTime, EvmRpc } from './evm/evm-rpc.js';
import { LogRange } from './evm/log-range.js';
import { type EvmNetwork, type Network, rpcUrlOf, type SvmNetwork } from './networks/networks.js';
import type { QueuedCheck } from './rpc/endpoint-queue.js';
import { EndpointQueues } from './rpc/endpoint-queues.js';
import { readRpcError } from './rpc/rpc-error.js';
import type { ChainFetch } from './rpc/rpc-fetch.js';
import {
  type ListEnd,
  listTransactions,
  readSolanaArrival,
  type TokenAccount,
} from './solana/solana-arrivals.js';
import { type SignatureEntry, type SolanaRoot, SolanaRpc } from './solana/solana-rpc.js';

/**
 * Reads what chains show, in no hurry: it waits for endpoints that limit calls, and asks for no more than they bear. Every
 * call throws ChainUnreadable in the end when its endpoint cannot be read.
 */
export interface ChainReader {
  /** The newest block that all nodes of the endpoint have. */
  evmHead(network: EvmNetwork): Promise<BlockTime>;
  /** A block at or before the time. */
  evmBlockBefore(network: EvmNetwork, time: Date): Promise<number>;
  evmArrivals(
    network: EvmNetwork,
    wallets: readonly string[],
    blocks: { oldest: number; newest: number },
  ): Promise<EvmArrivals>;
  evmTimeOf(network: EvmNetwork, block: number): Promise<Date | undefined>;
  solanaRoot(network: SvmNetwork): Promise<SolanaRoot>;
  solanaList(account: TokenAccount, root: SolanaRoot, end: ListEnd): Promise<SignatureEntry[]>;
  solanaArrival(account: TokenAccount, entry: SignatureEntry): Promise<Arrival | 'unreadable' | undefined>;
}

interface BlockTime {
  number: number;
  time: Date;
}

interface ChainReaderOptions {
  /** The process' queues, in which its checks of payments go first. */
  queues?: EndpointQueues;
  /** The first pause before an endpoint is called again; each further one is twice as long. */
  pauseMs?: number;
  signal?: AbortSignal;
}

const WITHIN_MS = 30_000;
/** Reads wait for all checks of payments. All tries of a read together take less than the lease of a regular run. */
const TURNS_WITHIN_MS = 60_000;
const RETRY_PAUSE_MS = 200;
const TRIES = 6;
const FIRST_PAUSE_MS = 500;
const STOPPING = 'the process is stopping';

interface Endpoint {
  logRange: LogRange;
  blockClock: BlockClock;
  isRightChain: boolean;
}

export function createChainReader(
  rpcUrls: ReadonlyMap<string, string>,
  { queues = new EndpointQueues(), pauseMs = FIRST_PAUSE_MS, signal }: ChainReaderOptions = {},
): ChainReader {
  const endpoints = new Map<string, Endpoint>();
  const endpointOf = ({ caip2 }: Network): Endpoint => {
    const known = endpoints.get(caip2) ?? {
      logRange: new LogRange(),
      blockClock: new BlockClock(),
      isRightChain: false,
    };
    endpoints.set(caip2, known);
    return known;
  };

  async function withRetries<N extends Network, Rpc extends { requireRightChain(): Promise<void> }, T>(
    network: N,
    open: (url: string, fetch: ChainFetch) => Rpc,
    work: (rpc: Rpc, check: ChainCheck, endpoint: Endpoint) => Promise<T>,
  ): Promise<T> {
    const endpoint = endpointOf(network);
    for (let tried = 1; ; tried += 1) {
      if (signal?.aborted) throw new ChainUnreadable(STOPPING);
      const turns = { inBackground: true, turnsWithinMs: TURNS_WITHIN_MS };
      const check = new ChainCheck({ withinMs: WITHIN_MS, ...turns, retryPauseMs: RETRY_PAUSE_MS });
      const stop = (): void => check.cut(STOPPING);
      signal?.addEventListener('abort', stop);
      let queued: QueuedCheck | undefined;
      try {
        const url = rpcUrlOf(rpcUrls, network);
        queued = queues.of(url, network).enter(check, turns);
        const rpc = open(url, queued.fetch);
        if (!endpoint.isRightChain) await rpc.requireRightChain();
        endpoint.isRightChain = true;
        return await work(rpc, check, endpoint);
      } catch (error) {
        if (tried === TRIES || signal?.aborted || readRpcError(error).kind === 'refused')
          throw new ChainUnreadable(unreadableReason(error));
      } finally {
        signal?.removeEventListener('abort', stop);
        queued?.leave();
        check.close();
      }
      await sleep(pauseMs * 2 ** (tried - 1), undefined, signal && { signal }).catch(() => undefined);
    }
  }

  const onEvm = <T>(
    network: EvmNetwork,
    work: (rpc: EvmRpc, check: ChainCheck, endpoint: Endpoint) => Promise<T>,
  ): Promise<T> => withRetries(network, (url, send) => new EvmRpc(network, url, send), work);
  const onSolana = <T>(
    network: SvmNetwork,
    work: (rpc: SolanaRpc, check: ChainCheck) => Promise<T>,
  ): Promise<T> => withRetries(network, (url, send) => new SolanaRpc(network, url, send), work);

  return {
    evmHead: (network) =>
      onEvm(network, async (rpc) => {
        const head = await readLowestHead(rpc);
        return { number: Number(head.number), time: blockTime(head) };
      }),
    evmBlockBefore: (network, time) =>
      onEvm(network, (rpc, _check, { blockClock }) => findBlockBefore(rpc, blockClock, time)),
    evmArrivals: (network, wallets, { oldest, newest }) =>
      onEvm(network, (rpc, check, { logRange }) =>
        readEvmArrivals({ rpc, check, logRange, network, wallets }, oldest, newest),
      ),
    evmTimeOf: (network, number) =>
      onEvm(network, async (rpc) => {
        const block = await rpc.findBlock(BigInt(number));
        return block && blockTime(block);
      }),
    solanaRoot: (network) => onSolana(network, (rpc) => rpc.getRoot()),
    solanaList: (account, root, end) =>
      onSolana(account.token.network, (rpc, check) => listTransactions({ rpc, check }, account, root, end)),
    solanaArrival: (account, entry) =>
      onSolana(account.token.network, (rpc, check) => readSolanaArrival({ rpc, check }, account, entry)),
  };
}

/**
 * A block clock takes a block that its node lacks for an old one, but the node may have pruned it, or another node may have it.
 * Only a chain's first block proves that nothing came before: a developer's chain may begin at a high number.
 */
async function findBlockBefore(rpc: EvmRpc, blockClock: BlockClock, time: Date): Promise<number> {
  const head = await rpc.getHead();
  const number = await blockClock.findBlockBefore(rpc, unixSeconds(time), head);
  if (number === 0) return number;
  const block = await rpc.findBlock(BigInt(number));
  if (block !== undefined && blockTime(block) <= time) return number;
  if (block === undefined) {
    const before = await blockClock.findBlockBefore(rpc, unixSeconds(time), head, 1);
    const next = await rpc.findBlock(BigInt(before + 1));
    if (next?.isFirst) return before;
  }
  throw new ChainUnreadable('the endpoint keeps no blocks from that time');
}
