import type { Hex } from 'viem';
import { nowMs } from '../../../shared/process/clock.js';
import { pick, type Random, seededRandom } from '../../world/chance/seeded-random.js';
import { coffeeOrder } from '../../world/shop/coffee-order.js';
import type { BuyersEntry } from '../journals/entries.js';
import { Journal } from '../journals/journal.js';
import { Buyer } from '../purchases/buyer.js';
import { refund } from '../purchases/refunder.js';
import { retryRequest } from '../purchases/retry-request.js';
import { ServiceClient, type Web } from '../purchases/service-client.js';
import { fewWallets, manyWallets } from '../wallets/purse.js';
import type { Wallet } from '../wallets/wallets.js';
import { connectToRun } from './actor.js';

/**
 * The merchant's shop and its buyers: one session per purchase, paid by one agent or by two at once. Some purchases are
 * refunded.
 */
const FEWEST_AT_ONCE = 12;
const MOST_AT_ONCE = 80;
const SHARE_AT_ONCE = 1 / 30;
const RIVALS_SHARE = 0.15;
const COPIES_SHARE = 0.15;
const REPLAY_SHARE = 0.1;
/** The share of paid purchases. */
const REFUND_SHARE = 0.4;
/** The price of each alike purchase, in cents. */
const ONE_PRICE = 500;

const { settings, ready, onOrder, report } = connectToRun<{
  seed: number;
  payments: number;
  webs: Web[];
  key: string;
  /** `solana` is the share of purchases on Solana; `blockhashes` is the URL of the newest blockhash. */
  solana: number;
  blockhashes: string;
  /** All purchases cost the same, and a few wallets, the merchant's with this key among them, pay all. */
  alikeWith?: Hex;
  journal: string;
}>();
const { alikeWith } = settings;
const purse =
  alikeWith === undefined
    ? manyWallets(settings.seed, settings.blockhashes)
    : fewWallets(settings.seed, settings.blockhashes, alikeWith);
const journal = new Journal<BuyersEntry>(settings.journal);
const known: string[] = [];
let begun = 0;
let isClosed = false;

async function serveCustomers(): Promise<void> {
  while (!isClosed && begun < settings.payments) {
    begun += 1;
    if (begun === settings.payments) report('begun');
    await sell(begun);
  }
}

/** Each purchase has a random source of its own, so that it does not depend on the others' timing. */
async function sell(number: number): Promise<void> {
  const random = seededRandom(settings.seed * 100_003 + number);
  const client = new ServiceClient({ webs: settings.webs, random, write: (answer) => journal.write(answer) });
  const isRivalry = random() < RIVALS_SHARE;
  const copies = random() < COPIES_SHARE ? 2 : 1;
  const sessionId = await openSession(
    client,
    alikeWith === undefined ? Math.floor(100 + random() * 900) : ONE_PRICE,
  );
  if (sessionId === undefined) return;
  const buyers = Array.from({ length: isRivalry ? 2 : 1 }, () => {
    const wallet = drawWallet(random);
    return new Buyer({ client, journal, wallet, sessionId, isOnlyBuyer: !isRivalry, copies });
  });
  const outcomes = await Promise.all(
    buyers.map(async (buyer) => {
      const outcome = await buyer.buy();
      journal.write({ kind: 'left', at: nowMs(), sessionId, outcome });
      if (outcome === 'paid' && random() < REPLAY_SHARE) await replay(client, buyer, pick(random, known));
      return outcome;
    }),
  );
  if (!outcomes.includes('paid') || random() >= REFUND_SHARE) return;
  const merchant = { client, key: settings.key };
  const inHalves = alikeWith !== undefined;
  await refund({ merchant, journal, random, purse, copies, inHalves }, sessionId);
}

function drawWallet(random: Random): Wallet {
  return random() >= settings.solana ? purse.evm(random) : purse.solana(random);
}

async function openSession(client: ServiceClient, amount: number): Promise<string | undefined> {
  const merchant = { client, key: settings.key, request: 'create' as const };
  const session = await retryRequest(merchant, '/v1/checkout/sessions', { body: coffeeOrder(amount) });
  if (session === undefined) return undefined;
  const sessionId = String(session.id);
  journal.write({ kind: 'session', at: nowMs(), sessionId });
  known.push(sessionId);
  return sessionId;
}

/** Sends a signature that has paid to another link. */
async function replay(client: ServiceClient, { last }: Buyer, sessionId: string): Promise<void> {
  if (last === undefined) return;
  const init = { headers: { 'PAYMENT-SIGNATURE': last.header } };
  await client.send(`/c/${sessionId}`, init, { request: 'replay', sessionId, nonce: last.nonce });
}

onOrder({
  begin() {
    const atOnce = Math.max(FEWEST_AT_ONCE, Math.min(MOST_AT_ONCE, settings.payments * SHARE_AT_ONCE));
    void Promise.all(Array.from({ length: Math.floor(atOnce) }, serveCustomers)).then(() => report('sold'));
  },
  close() {
    isClosed = true;
  },
});
ready({});
