import { nowMs } from '../../../shared/process/clock.js';
import { EvmChain } from '../../world/chains/evm-chain.js';
import { hex } from '../../world/chains/evm-logs.js';
import { endFaults } from '../../world/chains/faults.js';
import type { Transfer } from '../journals/entries.js';
import { Journal } from '../journals/journal.js';
import { connectToRun } from './actor.js';
import { refusalNamed } from './endpoint-kinds.js';
import { beginFault, type Executed, serveTransfers, type WantedTransfer } from './transfers.js';

/** The EVM chain: its JSON-RPC endpoint, and an endpoint that executes transfers for the facilitator. */
const BLOCK_MS = 1000;

const { settings, ready, onOrder } = connectToRun<{
  chainId: number;
  /** The endpoint's limit; none when absent. */
  callsPerSecond?: number;
  journal: string;
}>();
const ledger = new Journal<Transfer>(settings.journal);
const chain = await EvmChain.start(settings.chainId);
const used = new Set<string>();
let keepsState = Number.POSITIVE_INFINITY;
limitCalls();
setInterval(() => chain.mine(), BLOCK_MS);

function limitCalls(): void {
  chain.endpoint.callsPerSecond = settings.callsPerSecond ?? Number.POSITIVE_INFINITY;
}

/** A halted chain executes the transfer when it resumes, if the authorization is still valid. */
async function execute(wanted: WantedTransfer): Promise<Executed> {
  await chain.running();
  const { asset, from, to, amount, nonce, transaction, validBefore = 0 } = wanted;
  const isInTime = Math.max(nowMs() / 1000, chain.head.timestamp) + 1 < validBefore;
  const succeeded = isInTime && !used.has(nonce);
  if (succeeded) {
    used.add(nonce);
    chain.movePayment({ asset, from, payTo: to, amount: BigInt(amount), nonce }, transaction);
  } else chain.execute([], 'reverted', hex(transaction));
  ledger.write({ at: nowMs(), nonce, transaction, from, to, amount, succeeded });
  return { succeeded };
}

onOrder({
  /** Called before the last check of the whole chain, which would take minutes under the limit. */
  endLimit() {
    chain.endpoint.callsPerSecond = Number.POSITIVE_INFINITY;
  },
  /** Configures the endpoint. This is not a fault, so recovery leaves it. */
  setEndpointKind({ logRange, refusal, states }) {
    chain.maxLogRange = Number(logRange);
    chain.logRefusal = refusalNamed(refusal);
    keepsState = Number(states);
    chain.prune(keepsState);
  },
  applyFault: (fault) => beginFault(chain, fault),
  recover() {
    endFaults(chain);
    limitCalls();
    chain.prune(keepsState);
  },
});
ready({ rpc: chain.endpoint.url, transfers: await serveTransfers(execute) });
