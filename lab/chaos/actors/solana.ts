import { PublicKey, VersionedTransaction } from '@solana/web3.js';
import { nowMs } from '../../../shared/process/clock.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { SolanaChain } from '../../world/chains/solana-chain.js';
import { serveLocally } from '../../world/http/listen.js';
import { signSolanaPayment } from '../../world/shop/agent.js';
import { type UnrelatedTransfer, unrelatedJournalOf } from '../journals/entries.js';
import { Journal } from '../journals/journal.js';
import { busyKeypair } from '../wallets/wallets.js';
import { connectToRun } from './actor.js';
import { chainOrders, serveTransfers, type WantedTransfer } from './transfers.js';

/**
 * The Solana cluster: its JSON-RPC endpoint, the newest blockhash, and an endpoint that executes transfers for the
 * facilitator. One busy wallet has paid the merchant thousands of times, and continues.
 */
const MS_PER_SLOT = 400;
const BLOCKHASH_SLOTS = 150;
const BUSY_EVERY_MS = 2000;
const BUSY_TOGETHER = 100;

const { settings, ready, onOrder } = connectToRun<{
  network: string;
  asset: string;
  payTo: string;
  seed: number;
  busyBefore: number;
  /** The endpoint's limit; none when absent. */
  callsPerSecond?: number;
  journal: string;
}>();
const unrelated = new Journal<UnrelatedTransfer>(unrelatedJournalOf(settings.journal));
const chain = await SolanaChain.start(settings.network);
const busy = busyKeypair(settings.seed);
const slotsAtIssue = new Map<string, number>();

/** The slot and the time when slots and clock last agreed. */
let base = now();

for (let made = 0; made < settings.busyBefore; made += BUSY_TOGETHER) {
  chain.landMany(signUnrelated(), Math.min(BUSY_TOGETHER, settings.busyBefore - made));
}
base = now();
const orders = chainOrders(chain, settings.callsPerSecond);
setInterval(passTime, MS_PER_SLOT);
setInterval(() => {
  if (chain.isHalted) return;
  const transaction = chain.movePayment(signUnrelated(), { commitment: 'processed' });
  unrelated.write({ at: nowMs(), transaction });
}, BUSY_EVERY_MS);

function now(): { slot: number; at: number } {
  return { slot: chain.slot, at: nowMs() };
}

/** Slots follow the clock, whether or not the timer is late, and include slots that transactions added. */
function passTime(): void {
  if (chain.isHalted) return;
  const due = base.slot + Math.floor((nowMs() - base.at) / MS_PER_SLOT);
  if (due > chain.slot) chain.pass(due - chain.slot);
}

/** A payment to the same merchant that does not involve this service. */
function signUnrelated(): string {
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

function execute({ transaction, signedTransaction = '' }: WantedTransfer, isUnused: boolean): boolean {
  if (!isUnused || !isYoung(signedTransaction)) return false;
  chain.movePayment(signedTransaction, { signature: transaction, commitment: 'processed' });
  return true;
}

function isYoung(signedTransaction: string): boolean {
  const { message } = VersionedTransaction.deserialize(Buffer.from(signedTransaction, 'base64'));
  const issued = slotsAtIssue.get(message.recentBlockhash);
  return issued !== undefined && chain.slot - issued < BLOCKHASH_SLOTS;
}

onOrder({
  ...orders,
  setEndpointKind({ pageSize }) {
    chain.pageSize = Number(pageSize);
  },
  recover() {
    // A halted cluster continues from the slot at which it was halted.
    if (chain.isHalted) base = now();
    orders.recover();
  },
});
ready({
  rpc: chain.endpoint.url,
  transfers: await serveTransfers(chain, settings.journal, execute),
  blockhashes: (await serveLocally((_request, response) => response.end(issueBlockhash()))).url,
});
