import { nowMs } from '../../../shared/process/clock.js';
import { EvmChain } from '../../world/chains/evm-chain.js';
import { hex } from '../../world/chains/evm-logs.js';
import { becomeActor } from './actor.js';
import { applyFault, recover } from './endpoint-faults.js';
import { refusalNamed } from './endpoint-kinds.js';
import type { Transfer } from './entries.js';
import { Gate } from './gate.js';
import { Journal } from './journal.js';
import { serveLocally } from './serve-locally.js';
import type { Executed, WantedTransfer } from './transfers.js';

/** The EVM chain: its JSON-RPC endpoint, and an endpoint that executes transfers for the facilitator. */
const BLOCK_MS = 1000;

const { settings, ready, onOrder } = becomeActor<{ chainId: number; journal: string }>();
const ledger = new Journal<Transfer>(settings.journal);
const chain = await EvmChain.start(settings.chainId);
const used = new Set<string>();
const halt = new Gate();
setInterval(() => {
  if (halt.isOpen) chain.mine();
}, BLOCK_MS);

/** A halted chain executes the transfer when it resumes, if the authorization is still valid. */
async function execute(body: string): Promise<Executed> {
  await halt.passed();
  const { asset, from, to, amount, nonce, transaction, validBefore = 0 }: WantedTransfer = JSON.parse(body);
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
  /** Configures the endpoint. This is not a fault, so recovery leaves it. */
  become({ logRange, refusal, states }) {
    chain.maxLogRange = Number(logRange);
    chain.logRefusal = refusalNamed(refusal);
    chain.keepsState = Number(states);
  },
  applyFault: (fault) => applyFault(chain, fault, halt),
  recover() {
    recover(chain);
    halt.open();
  },
});
ready({ rpc: chain.endpoint.url, transfers: await serveLocally(execute) });
