import { nowMs } from '../../../shared/process/clock.js';
import { EvmChain } from '../../world/chains/evm-chain.js';
import { hex } from '../../world/chains/evm-logs.js';
import { connectToRun } from './actor.js';
import { refusalNamed } from './endpoint-kinds.js';
import { chainOrders, serveTransfers, type WantedTransfer } from './transfers.js';

/** The EVM chain: its JSON-RPC endpoint, and an endpoint that executes transfers for the facilitator. */
const BLOCK_MS = 1000;

const { settings, ready, onOrder } = connectToRun<{
  chainId: number;
  /** The endpoint's limit; none when absent. */
  callsPerSecond?: number;
  journal: string;
}>();
const chain = await EvmChain.start(settings.chainId);
const orders = chainOrders(chain, settings.callsPerSecond);
let keepsState = Number.POSITIVE_INFINITY;
setInterval(() => chain.mine(), BLOCK_MS);

function execute(wanted: WantedTransfer, isUnused: boolean): boolean {
  const { asset, from, to, amount, nonce, transaction, validBefore = 0 } = wanted;
  const isInTime = Math.max(nowMs() / 1000, chain.head.timestamp) + 1 < validBefore;
  if (isInTime && isUnused)
    chain.movePayment({ asset, from, payTo: to, amount: BigInt(amount), nonce }, transaction);
  else chain.execute([], 'reverted', hex(transaction));
  return isInTime && isUnused;
}

onOrder({
  ...orders,
  /** Configures the endpoint. This is not a fault, so recovery leaves it. */
  setEndpointKind({ logRange, refusal, states }) {
    chain.maxLogRange = Number(logRange);
    chain.logRefusal = refusalNamed(refusal);
    keepsState = Number(states);
    chain.prune(keepsState);
  },
  recover() {
    orders.recover();
    chain.prune(keepsState);
  },
});
ready({ rpc: chain.endpoint.url, transfers: await serveTransfers(chain, settings.journal, execute) });
