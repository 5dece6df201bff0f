import { nowMs } from '../../../shared/process/clock.js';
import type { Random } from '../../world/chance/seeded-random.js';
import { Buyer } from './buyer.js';
import type { BuyersEntry } from './entries.js';
import { insist, lookUp, type MerchantAsks } from './insist.js';
import type { Journal } from './journal.js';
import { evmWallet, newKeypair, solanaWallet } from './wallets.js';

/**
 * The merchant gives a purchase back: in part or whole, and sometimes it asks twice in one moment for all of it, of which
 * one must be refused. What it was given it pays, as stubbornly as a buyer does.
 */
export interface Refunding {
  asks: Omit<MerchantAsks, 'request'>;
  journal: Journal<BuyersEntry>;
  random: Random;
  blockhashes: string;
  copies: number;
}

const WHOLE_TWICE_SHARE = 0.3;

interface Made {
  id: string;
  network: string;
}

export async function giveBack(refunding: Refunding, sessionId: string): Promise<void> {
  const { asks, random } = refunding;
  const session = await lookUp({ ...asks, request: 'refund' }, `/v1/checkout/sessions/${sessionId}`);
  const payment = session?.payment as { id: string; amount: number } | null | undefined;
  if (!payment) return;
  const part = { amount: Math.ceil(payment.amount * random()) };
  const wanted = random() < WHOLE_TWICE_SHARE ? [{}, {}] : [part];
  const made = await Promise.all(wanted.map((body) => openRefund(refunding, payment.id, body)));
  await Promise.all(made.flatMap((refund) => (refund === undefined ? [] : pay(refunding, refund))));
}

async function openRefund(
  { asks, journal }: Refunding,
  paymentId: string,
  body: object,
): Promise<Made | undefined> {
  const made = await insist({ ...asks, request: 'refund' }, '/v1/refunds', { payment: paymentId, ...body });
  if (made === undefined) return undefined;
  const refund = { id: String(made.id), network: String(made.network) };
  journal.write({ kind: 'refund', at: nowMs(), refundId: refund.id, paymentId });
  return refund;
}

async function pay(
  { asks: { client }, journal, random, blockhashes, copies }: Refunding,
  { id: sessionId, network }: Made,
): Promise<void> {
  const wallet = network.startsWith('eip155:') ? evmWallet(random) : solanaWallet(newKeypair(), blockhashes);
  const outcome = await new Buyer({ client, journal, wallet, sessionId, alone: true, copies }).buy();
  journal.write({ kind: 'left', at: nowMs(), sessionId, outcome });
}
