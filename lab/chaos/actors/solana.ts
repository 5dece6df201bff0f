import { PublicKey, VersionedTransaction } from '@solana/web3.js';
import { nowMs } from '../../../shared/process/clock.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { SolanaChain } from '../../world/chains/solana-chain.js';
import { signSolanaPayment } from '../../world/shop/agent.js';
import { becomeActor } from './actor.js';
import { applyFault, recover } from './endpoint-faults.js';
import type { Transfer } from './entries.js';
import { Gate } from './gate.js';
import { Journal } from './journal.js';
import { serveLocally } from './serve-locally.js';
import type { Executed, WantedTransfer } from './transfers.js';
import { busyKeypair } from './wallets.js';

/**
 * The Solana cluster: its JSON-RPC endpoint, the newest blockhash, and an endpoint that executes transfers for the
 * facilitator. One busy wallet has paid the merchant thousands of times, and continues.
 */
const MS_PER_SLOT = 400;
const BLOCKHASH_SLOTS = 150;
const BUSY_EVERY_MS = 2000;
const BUSY_TOGETHER = 100;

const { settings, ready, onOrder } = becomeActor<{
  network: string;
  asset: string;
  payTo: string;
  seed: number;
  busyBefore: number;
  journal: string;
}>();
const ledger = new Journal<Transfer>(settings.journal);
const chain = await SolanaChain.start(settings.network);
const busy = busyKeypair(settings.seed);
const used = new Set<string>();
const slotsAtIssue = new Map<string, number>();
const halt = new Gate();

/** The slot and the time when slots and clock last agreed. */
let base = { slot: chain.slot, at: nowMs() };

for (let made = 0; made < settings.busyBefore; made += BUSY_TOGETHER) {
  chain.landMany(signElsewhere(), Math.min(BUSY_TOGETHER, settings.busyBefore - made));
}
resume();
setInterval(passTime, MS_PER_SLOT);
setInterval(() => {
  if (halt.isOpen) chain.movePayment(signElsewhere(), { commitment: 'processed' });
}, BUSY_EVERY_MS);

/** Slots follow the clock, whether or not the timer is late, and include slots that transactions added. */
function passTime(): void {
  if (!halt.isOpen) return;
  const due = base.slot + Math.floor((nowMs() - base.at) / MS_PER_SLOT);
  if (due > chain.slot) chain.pass(due - chain.slot);
}

/** Continues from the slot at which the cluster was halted. */
function resume(): void {
  base = { slot: chain.slot, at: nowMs() };
  halt.open();
}

/** A payment to the same merchant that does not involve this service. */
function signElsewhere(): string {
  const { network, asset, payTo } = settings;
  const offer: PaymentRequirements = {
    scheme: 'exact',
    network,
    asset,
    payTo,
    amount: '1000000',
    maxTimeoutSeconds: 60,
    extra: { feePayer: PublicKey.default.toBase58() },
  };
  return signSolanaPayment(offer, { payer: busy }).transaction;
}

function issueBlockhash(): string {
  const blockhash = chain.issueBlockhash();
  slotsAtIssue.set(blockhash, chain.slot);
  return blockhash;
}

/** A halted cluster executes the transfer when it resumes, if its blockhash is still valid. */
async function execute(body: string): Promise<Executed> {
  await halt.passed();
  const wanted: WantedTransfer = JSON.parse(body);
  const { nonce, transaction, from, to, amount, signedTransaction = '' } = wanted;
  const succeeded = !used.has(nonce) && isYoung(signedTransaction);
  if (succeeded) {
    used.add(nonce);
    chain.movePayment(signedTransaction, { signature: transaction, commitment: 'processed' });
  }
  ledger.write({ at: nowMs(), nonce, transaction, from, to, amount, succeeded });
  return { succeeded };
}

function isYoung(signedTransaction: string): boolean {
  const { message } = VersionedTransaction.deserialize(Buffer.from(signedTransaction, 'base64'));
  const issued = slotsAtIssue.get(message.recentBlockhash);
  return issued !== undefined && chain.slot - issued < BLOCKHASH_SLOTS;
}

onOrder({
  applyFault: (fault) => applyFault(chain, fault, halt),
  become({ pageSize }) {
    chain.pageSize = Number(pageSize);
  },
  recover() {
    recover(chain);
    if (!halt.isOpen) resume();
  },
});
ready({
  rpc: chain.endpoint.url,
  transfers: await serveLocally(execute),
  blockhashes: await serveLocally(issueBlockhash),
});
