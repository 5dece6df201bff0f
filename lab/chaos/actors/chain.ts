import { nowMs } from '../../../shared/process/clock.js';
import { EvmChain } from '../../world/chains/evm-chain.js';
import { hex } from '../../world/chains/evm-logs.js';
import { becomeActor } from './actor.js';
import { refusalNamed } from './endpoint-kinds.js';
import { recover, suffer } from './endpoint-troubles.js';
import type { Transfer } from './entries.js';
import { Gate } from './gate.js';
import { Journal } from './journal.js';
import { serveLocally } from './serve-locally.js';
import type { Carried, WantedTransfer } from './transfers.js';

/** The EVM chain: its JSON-RPC endpoint, and an address at which the facilitator has transfers carried out. */
const BLOCK_MS = 1000;

const { settings, ready, hear } = becomeActor<{ chainId: number; journal: string }>();
const ledger = new Journal<Transfer>(settings.journal);
const chain = await EvmChain.start(settings.chainId);
const used = new Set<string>();
const halt = new Gate();
setInterval(() => {
  if (halt.isOpen) chain.mine();
}, BLOCK_MS);

/** A halted chain carries it out when it goes on, if its time is not over. */
async function carryOut(body: string): Promise<Carried> {
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

hear({
  /** How its endpoint is made: no fault, and so nothing that heals. */
  become({ logRange, refusal, states }) {
    chain.maxLogRange = Number(logRange);
    chain.logRefusal = refusalNamed(refusal);
    chain.keepsState = Number(states);
  },
  suffer: (trouble) => suffer(chain, trouble, halt),
  heal() {
    recover(chain);
    halt.open();
  },
});
ready({ rpc: chain.endpoint.url, transfers: await serveLocally(carryOut) });
