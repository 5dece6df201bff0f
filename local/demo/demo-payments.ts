import { createHash } from 'node:crypto';
import { OFFERED_TOKENS } from '../../shared/chains/networks/networks.js';
import { presentCheckoutSession } from '../../shared/checkout-sessions/present.js';
import type { Knex } from '../../shared/db/knex.js';
import { summarize, totalCents } from '../../shared/payables/line-items.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { presentRefund } from '../../shared/refunds/present.js';
import { refundTerms } from '../../shared/refunds/terms.js';
import { type IdPrefix, lowestIdAt, newId, randomText } from '../../shared/values/ids.js';
import { centsToTokenAmount } from '../../shared/values/money.js';
import type { EventType } from '../../shared/webhooks/event-types.js';
import { Event } from '../../shared/webhooks/model.js';

interface DemoShop {
  accountId: string;
  evmWallet: string;
  solanaWallet: string;
  baseUrl: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 30;
/** The `metadata` of each made-up session and refund. */
const MARK = { demo: 'true' };
const PRODUCTS = [
  ['Filter coffee', 450],
  ['Coffee beans, 1 kg', 2400],
  ['Espresso cups', 1800],
  ['Cake', 650],
  ['Hand grinder', 8900],
] as const;
const PAID_IN = [
  ['USDC', 'Base Sepolia'],
  ['USDC', 'Solana Devnet'],
  ['USDT', 'X Layer Testnet'],
  ['USDC', 'Base Sepolia'],
  ['USDG', 'Solana Devnet'],
] as const;
const BUYERS = 12;
const SOLANA_BUYER = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';
const UNPAID_EVERY = 11;
const FAILED = 50;

interface MadeUpRefund {
  status: 'complete' | 'expired' | 'open';
  /** The refund is half of the payment, rounded down; else all of it. */
  half: boolean;
}

/** Refunds by the number of the order. */
const REFUNDS: ReadonlyMap<number, MadeUpRefund> = new Map([
  [40, { status: 'complete', half: false }],
  [80, { status: 'complete', half: true }],
  [120, { status: 'expired', half: false }],
  [160, { status: 'open', half: false }],
]);

/** The rows of each table, in the order in which they refer to one another. */
interface Rows {
  sessions: Payable[];
  payments: Payment[];
  refunds: Payable[];
  refundPayments: Payment[];
  events: Partial<Event>[];
}

/**
 * Makes up thirty days of orders, so that the dashboard has something to show. Each is marked: in its metadata, its order
 * number, its items and its transaction. The newest is more than a day old, since `reconcile` looks for the money of the
 * last day's payments on the chain. Their events have no deliveries, so no endpoint is told of them.
 */
export async function makeUpPayments(trx: Knex, shop: DemoShop, nowMs: number): Promise<void> {
  const rows: Rows = { sessions: [], payments: [], refunds: [], refundPayments: [], events: [] };
  let order = 0;
  for (let daysAgo = DAYS + 1; daysAgo >= 2; daysAgo -= 1) {
    const orders = 3 + ((daysAgo * 5) % 7);
    for (let n = 0; n < orders; n += 1) {
      order += 1;
      addOrder(rows, shop, order, nowMs - daysAgo * DAY_MS + (n / orders) * (DAY_MS - HOUR_MS));
    }
  }
  await Payable.query(trx).insert(rows.sessions);
  await Payment.query(trx).insert(rows.payments);
  await Payable.query(trx).insert(rows.refunds);
  await Payment.query(trx).insert(rows.refundPayments);
  await Event.query(trx).insert(rows.events);
}

function addOrder(rows: Rows, shop: DemoShop, order: number, atMs: number): void {
  const [product, unitAmountCents] = PRODUCTS[order % PRODUCTS.length] ?? PRODUCTS[0];
  const item = { name: `${product} (demo)`, description: null, images: [], unitAmountCents };
  const items = [{ id: newId('li_'), ...item, quantity: 1 + (order % 3) }];
  const isUnpaid = order % UNPAID_EVERY === 0;
  const expiresMs = atMs + DAY_MS;
  const session = makePayable(shop, 'cs_test_', atMs, {
    status: isUnpaid || order === FAILED ? 'expired' : 'complete',
    amountTotalCents: totalCents(items),
    lineItems: items,
    summary: summarize(items),
    clientReferenceId: numberOf(order),
    customerEmail: `buyer${order % BUYERS}@example.com`,
    expiresAt: new Date(expiresMs),
  });
  rows.sessions.push(session);
  const paidMs = atMs + 60_000;
  const payment = makePayment(shop, session, order, paidMs);
  if (!isUnpaid) rows.payments.push(payment);
  if (session.status === 'complete') {
    session.paymentId = payment.id;
    addEvent(rows, session, 'checkout.session.completed', paidMs, presentSession(shop, session, payment));
  } else {
    addEvent(rows, session, 'checkout.session.expired', expiresMs, presentSession(shop, session));
  }
  const refund = REFUNDS.get(order);
  if (refund !== undefined) addRefund(rows, shop, payment, order, refund);
}

function addRefund(rows: Rows, shop: DemoShop, paid: Payment, order: number, made: MadeUpRefund): void {
  const atMs = Number(paid.claimedAt) + DAY_MS;
  const amountTotalCents = made.half ? Math.floor(paid.amountCents / 2) : paid.amountCents;
  const terms = {
    payTo: paid.payer ?? '',
    reason: 'requested_by_customer',
    reference: numberOf(order),
  } as const;
  const refund = makePayable(shop, 're_', atMs, {
    status: made.status,
    amountTotalCents,
    lineItems: [],
    summary: summarize([]),
    expiresAt: new Date(atMs + 7 * DAY_MS),
    refundedPaymentId: paid.id,
    refund: refundTerms(paid, amountTotalCents, terms),
  });
  rows.refunds.push(refund);
  const open = Object.assign(new Payable(), refund, { status: 'open' });
  addEvent(rows, refund, 'refund.created', atMs, presentRefund(open, shop.baseUrl));
  if (made.status === 'open') return;
  let payment: Payment | undefined;
  if (made.status === 'complete') {
    payment = makePayment(shop, refund, order, atMs + HOUR_MS);
    Object.assign(payment, { payer: paid.payTo, payTo: paid.payer });
    rows.refundPayments.push(payment);
    refund.paymentId = payment.id;
  }
  const ended = Object.assign(new Payable(), refund, { payment });
  addEvent(rows, refund, 'refund.updated', atMs + HOUR_MS, presentRefund(ended, shop.baseUrl));
}

function makePayable(
  shop: DemoShop,
  prefix: 'cs_test_' | 're_',
  atMs: number,
  row: Partial<Payable>,
): Payable {
  const { accountId } = shop;
  const texts = { successUrl: null, cancelUrl: null, clientReferenceId: null, customerEmail: null };
  const common = { id: idAt(prefix, atMs), accountId, livemode: false, metadata: MARK };
  return Object.assign(new Payable(), common, texts, { paymentId: null, failureCode: null }, row);
}

function makePayment(shop: DemoShop, payable: Payable, order: number, atMs: number): Payment {
  const [symbol, networkName] = PAID_IN[order % PAID_IN.length] ?? PAID_IN[0];
  const token = OFFERED_TOKENS.find((one) => one.symbol === symbol && one.network.name === networkName);
  if (token === undefined) throw new Error(`There is no ${symbol} on ${networkName}.`);
  const id = idAt('pay_', atMs);
  const hasFailed = order === FAILED;
  const settledAt = new Date(atMs + 2000);
  const isEvm = token.family === 'evm';
  return Object.assign(new Payment(), {
    id,
    payableId: payable.id,
    accountId: shop.accountId,
    livemode: false,
    status: hasFailed ? 'failed' : 'succeeded',
    amountCents: payable.amountTotalCents,
    token: symbol,
    tokenAmount: String(centsToTokenAmount(payable.amountTotalCents, token.decimals)),
    tokenDecimals: token.decimals,
    network: token.network.caip2,
    asset: token.address,
    payer: isEvm ? evmBuyer(order) : SOLANA_BUYER,
    payTo: isEvm ? shop.evmWallet : shop.solanaWallet,
    channel: order % 4 === 0 ? 'x402' : 'page',
    transaction: hasFailed ? null : numberOf(order),
    settledAt: hasFailed ? null : settledAt,
    failureCode: hasFailed ? 'insufficient_funds' : null,
    failedAt: hasFailed ? settledAt : null,
    payloadKey: id,
    requirements: {},
    payload: {},
    validUntil: new Date(atMs + HOUR_MS),
    claimedAt: new Date(atMs),
  } satisfies Partial<Payment>);
}

function addEvent(rows: Rows, payable: Payable, type: EventType, atMs: number, object: object): void {
  const { id: payableId, accountId, livemode } = payable;
  rows.events.push({ id: idAt('evt_', atMs), accountId, livemode, type, payableId, object });
}

function presentSession({ baseUrl }: DemoShop, session: Payable, payment?: Payment): object {
  const shown = Object.assign(new Payable(), session, { payment });
  return presentCheckoutSession(shown, { baseUrl, expand: [] });
}

function numberOf(order: number): string {
  return `demo-${String(order).padStart(4, '0')}`;
}

function evmBuyer(order: number): string {
  const digits = createHash('sha256')
    .update(`demo buyer ${order % BUYERS}`)
    .digest('hex');
  return `0x${digits.slice(0, 40)}`;
}

/** An id holds the time of its object's creation. */
function idAt(prefix: IdPrefix, ms: number): string {
  return `${lowestIdAt(prefix, ms)}${randomText(20)}`;
}
