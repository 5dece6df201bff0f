import { nowMs } from '../../../shared/process/clock.js';
import type { Random } from '../../world/chance/seeded-random.js';
import type { BuyersEntry } from '../journals/entries.js';
import type { Journal } from '../journals/journal.js';
import type { Purse } from '../wallets/purse.js';
import { Buyer } from './buyer.js';
import { type MerchantRequest, retryRequest } from './retry-request.js';

/**
 * The merchant refunds a purchase, in part or whole. Sometimes it asks twice at once for the whole amount, and one request
 * must be refused. It pays the refund's link as a buyer does.
 */
interface Refunding {
  merchant: Omit<MerchantRequest, 'request'>;
  journal: Journal<BuyersEntry>;
  random: Random;
  purse: Purse;
  copies: number;
  /** Refunds in part are two equal ones at once. */
  inHalves: boolean;
}

const WHOLE_TWICE_SHARE = 0.3;

interface Made {
  id: string;
  network: string;
}

export async function refund(refunding: Refunding, sessionId: string): Promise<void> {
  const { merchant, random, inHalves } = refunding;
  const session = await retryRequest(
    { ...merchant, request: 'refund' },
    `/v1/checkout/sessions/${sessionId}`,
    {
      method: 'GET',
    },
  );
  const payment = session?.payment as { id: string; amount: number } | null | undefined;
  if (!payment) return;
  const part = Math.ceil(payment.amount * random());
  const half = { amount: Math.floor(payment.amount / 2) };
  const parts = inHalves ? [half, half] : [{ amount: part }];
  const wanted = random() < WHOLE_TWICE_SHARE ? [{}, {}] : parts;
  const made = await Promise.all(wanted.map((body) => openRefund(refunding, payment.id, body)));
  await Promise.all(made.flatMap((refund) => (refund === undefined ? [] : pay(refunding, refund))));
}

async function openRefund(
  { merchant, journal }: Refunding,
  paymentId: string,
  body: object,
): Promise<Made | undefined> {
  const made = await retryRequest({ ...merchant, request: 'refund' }, '/v1/refunds', {
    body: { payment: paymentId, ...body },
  });
  if (made === undefined) return undefined;
  const refund = { id: String(made.id), network: String(made.network) };
  journal.write({ kind: 'refund', at: nowMs(), refundId: refund.id, paymentId });
  return refund;
}

async function pay(
  { merchant: { client }, journal, random, purse, copies }: Refunding,
  { id: sessionId, network }: Made,
): Promise<void> {
  const wallet = network.startsWith('eip155:') ? purse.evm(random) : purse.solana(random);
  const outcome = await new Buyer({ client, journal, wallet, sessionId, isOnlyBuyer: true, copies }).buy();
  journal.write({ kind: 'left', at: nowMs(), sessionId, outcome });
}
