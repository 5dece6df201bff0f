import { nowMs } from '../../../shared/process/clock.js';
import type { Random } from '../../world/chance/seeded-random.js';
import { Buyer } from './buyer.js';
import type { BuyersEntry } from './entries.js';
import type { Journal } from './journal.js';
import { lookUp, type MerchantRequest, retryRequest } from './retry-request.js';
import { evmWallet, newKeypair, solanaWallet } from './wallets.js';

/**
 * The merchant refunds a purchase, in part or whole. Sometimes it asks twice at once for the whole amount, and one request
 * must be refused. It pays the refund's link as a buyer does.
 */
interface Refunding {
  merchant: Omit<MerchantRequest, 'request'>;
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

export async function refund(refunding: Refunding, sessionId: string): Promise<void> {
  const { merchant, random } = refunding;
  const session = await lookUp({ ...merchant, request: 'refund' }, `/v1/checkout/sessions/${sessionId}`);
  const payment = session?.payment as { id: string; amount: number } | null | undefined;
  if (!payment) return;
  const part = { amount: Math.ceil(payment.amount * random()) };
  const wanted = random() < WHOLE_TWICE_SHARE ? [{}, {}] : [part];
  const made = await Promise.all(wanted.map((body) => openRefund(refunding, payment.id, body)));
  await Promise.all(made.flatMap((refund) => (refund === undefined ? [] : pay(refunding, refund))));
}

async function openRefund(
  { merchant, journal }: Refunding,
  paymentId: string,
  body: object,
): Promise<Made | undefined> {
  const made = await retryRequest({ ...merchant, request: 'refund' }, '/v1/refunds', {
    payment: paymentId,
    ...body,
  });
  if (made === undefined) return undefined;
  const refund = { id: String(made.id), network: String(made.network) };
  journal.write({ kind: 'refund', at: nowMs(), refundId: refund.id, paymentId });
  return refund;
}

async function pay(
  { merchant: { client }, journal, random, blockhashes, copies }: Refunding,
  { id: sessionId, network }: Made,
): Promise<void> {
  const wallet = network.startsWith('eip155:') ? evmWallet(random) : solanaWallet(newKeypair(), blockhashes);
  const outcome = await new Buyer({ client, journal, wallet, sessionId, alone: true, copies }).buy();
  journal.write({ kind: 'left', at: nowMs(), sessionId, outcome });
}
