import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import request, { type Response, type Test } from 'supertest';
import type { LocalAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { type FakeFacilitator, startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { type EvmOverrides, paymentHeader, signEvmPayment } from '../../lab/world/shop/agent.js';
import { buildMerchant, type Merchant } from '../../lab/world/shop/factories.js';
import { NETWORKS } from '../../shared/chains/networks/networks.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { loadConfig } from '../../shared/config/config.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { advanceClock, nowMs } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import type { Closable } from '../../shared/process/shutdown.js';
import type {
  EvmExtra,
  EvmPayload,
  PaymentRequired,
  PaymentRequirements,
  SvmExtra,
} from '../../shared/x402/wire.js';
import { startWorker } from '../../workers/process/start-worker.js';
import { openTestApp, type TestApp } from './app.js';
import { buildPayable, type Kind, recordedMoves } from './kinds.js';
import { assertLinkAnswer, type LinkMethod } from './link-answers.js';
import { testServices } from './suite.js';

/** A web app, a worker, a facilitator and a merchant: everything that a payment needs. */
export interface Checkout {
  app: TestApp;
  facilitator: FakeFacilitator;
  merchant: Merchant;
  /** Creates a session, or a refund when the checkout's kind is `refund`. */
  buildSession(overrides?: Partial<CheckoutSession>): Promise<Payable>;
  /** The link's payment requirements. */
  quote(id: string): Promise<PaymentRequired>;
  /** Asserts on every answer what holds for all answers of a payment link. */
  send(method: LinkMethod, id: string, headers?: Record<string, string>): Test;
  visit(id: string, headers?: Record<string, string>): Test;
  /** A new signature for an entry of this link: by default on Base Sepolia, in its first token. */
  sign(id: string, parts?: Signing): Promise<SignedPayment>;
  /** Signs a new payment and sends it. */
  pay(id: string, parts?: Signing): Promise<Response>;
  /** How often the facilitator was called for this payment. */
  calls(payment: SignedPayment): { verify: number; settle: number };
  session(id: string): Promise<Payable>;
  payments(sessionId: string): Promise<Payment[]>;
  events(sessionId: string): Promise<string[]>;
  /** The session's newest payment. */
  payment(sessionId: string): Promise<Payment>;
  /** Waits until a call of `/settle` has ended for the payment, with any outcome. */
  afterSettling(sessionId: string): Promise<Payment>;
  /** Enqueues the payment's due work, which the sweep would find within about a second. */
  enqueueDueWork(sessionId: string): Promise<void>;
  /** Moves the clock by `seconds`, and waits until the chain was checked once more and the result is recorded. */
  afterNextCheck(sessionId: string, seconds?: number, meanwhile?: () => void): Promise<Payment>;
  /** The session's status, its payments' statuses (oldest first) and its events' types. */
  state(sessionId: string): Promise<SessionState>;
  /** Moves the clock by a second and waits for this state. */
  becomes(sessionId: string, state: SessionState): Promise<void>;
  /** Starts a worker; `settings` override the checkout's environment. */
  startWorker(settings?: Record<string, string>): Promise<Closable>;
  /** Leaves nothing due, which the workers of later tests would take. */
  forgetWork(): Promise<void>;
  close(): Promise<void>;
}

export interface SessionState {
  session: string;
  payments: string[];
  events: string[];
}

export interface CheckoutOptions {
  environment?: Record<string, string>;
  facilitator?: FakeFacilitator;
  worker?: boolean;
  /** The object that is paid: a session or a refund. */
  kind?: Kind;
}

export interface Signing extends EvmOverrides {
  account?: LocalAccount;
  network?: string;
  asset?: string;
}

export interface SignedPayment {
  /** The value of PAYMENT-SIGNATURE. */
  header: string;
  accepted: PaymentRequirements;
  payload: EvmPayload;
}

export const BASE_SEPOLIA = 'eip155:84532';
export const X_LAYER_TESTNET = 'eip155:1952';
export const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
export const BUYER = privateKeyToAccount(generatePrivateKey());

/** States of a session with one payment, or with none. */
export const PAID: SessionState = {
  session: 'complete',
  payments: ['succeeded'],
  events: ['checkout.session.completed'],
};
export const PROCESSING: SessionState = { session: 'processing', payments: ['processing'], events: [] };
export const FAILED: SessionState = { session: 'open', payments: ['failed'], events: [] };
export const UNTOUCHED: SessionState = { session: 'open', payments: [], events: [] };

/** The longest pause between two checks of a chain. */
const LONGEST_PAUSE_MS = 35_000;
/** An unreachable RPC endpoint, so that no test reads a chain unintentionally. */
const NO_CHAIN = 'http://127.0.0.1:1';

export async function openCheckout({
  environment = {},
  worker = true,
  kind = 'session',
  ...rest
}: CheckoutOptions = {}): Promise<Checkout> {
  const facilitator = rest.facilitator ?? (await startFacilitator());
  const settings = {
    FACILITATOR_URL: facilitator.url,
    // Room for every entry.
    RESPONSE_HEADER_MAX_BYTES: '16384',
    ...Object.fromEntries(
      NETWORKS.map(({ environmentSuffix }) => [`RPC_URL_${environmentSuffix}`, NO_CHAIN]),
    ),
    ...environment,
  };
  const app = await openTestApp(settings);
  const merchant = await buildMerchant(app.db);
  const workers: Closable[] = [];
  const start = async (others: Record<string, string> = {}): Promise<Closable> => {
    const { databaseUrl, redisUrl } = testServices();
    const fixed = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, BASE_URL: 'https://pay.example' };
    const config = loadConfig({ ...fixed, ...settings, ...others }, 'worker');
    const started = await startWorker(config, createLogger('silent', 'test'));
    workers.push(started);
    return started;
  };
  if (worker) await start();

  const checkout: Checkout = {
    app,
    facilitator,
    merchant,
    buildSession: (overrides) => buildPayable(kind, app.db, merchant.accountId, overrides),
    async quote(id) {
      const { status, body } = await checkout.visit(id);
      assert.equal(status, 402);
      return body;
    },
    send: (method, id, headers = {}) => {
      const test = request(app.server)[method](`/c/${id}`).set(headers);
      return test.expect((res) => assertLinkAnswer(res, method, `${app.config.baseUrl}/c/${id}`));
    },
    visit: (id, headers) => checkout.send('get', id, headers),
    async sign(id, { account = BUYER, network = BASE_SEPOLIA, asset, ...parts } = {}) {
      const { accepts } = await checkout.quote(id);
      const accepted = findEntry(accepts, network, asset);
      const payload = await signEvmPayment(accepted, { account, ...parts });
      return { header: paymentHeader(accepted, payload), accepted, payload };
    },
    async pay(id, parts) {
      const { header } = await checkout.sign(id, parts);
      return await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
    },
    calls({ payload }) {
      const nonce = payload.authorization.nonce.toLowerCase();
      const count = (endpoint: 'verify' | 'settle'): number => facilitator.callsOf(endpoint, nonce).length;
      return { verify: count('verify'), settle: count('settle') };
    },
    session: async (id) => await Payable.query(app.db).findById(id).throwIfNotFound(),
    payments: async (sessionId) => await Payment.query(app.db).where({ payableId: sessionId }).orderBy('id'),
    async payment(sessionId) {
      const newest = Payment.query(app.db).where({ payableId: sessionId }).orderBy('id', 'desc');
      return await newest.first().throwIfNotFound();
    },
    afterSettling: (sessionId) =>
      eventually(async () => {
        const payment = await checkout.payment(sessionId);
        assert.notEqual(payment.settleEndedAt, null);
        return payment;
      }),
    async enqueueDueWork(sessionId) {
      const { id, stage } = await checkout.payment(sessionId);
      const name = stage === 'settle' ? 'settle-payment' : 'confirm-payment';
      await app.queues.enqueue({ name, payload: { paymentId: id }, id: `${id}-${randomUUID()}` });
    },
    async afterNextCheck(sessionId, seconds = 1, meanwhile = () => {}) {
      const { attempt } = await checkout.payment(sessionId);
      advanceClock(seconds * 1000);
      meanwhile();
      await checkout.enqueueDueWork(sessionId);
      return await eventually(async () => {
        const payment = await checkout.payment(sessionId);
        assert.notEqual(payment.attempt, attempt);
        // A worker that takes a row moves its due time beyond the longest call; pauses between checks are shorter.
        const isTaken = payment.dueAt !== null && payment.dueAt.getTime() > nowMs() + LONGEST_PAUSE_MS;
        assert.equal(isTaken && payment.status === 'processing', false);
        return payment;
      });
    },
    events: (sessionId) => recordedMoves(app.db, sessionId),
    async state(id) {
      const { status: session } = await checkout.session(id);
      const payments = (await checkout.payments(id)).map(({ status }) => status);
      return { session, payments, events: await checkout.events(id) };
    },
    async becomes(id, expected) {
      advanceClock(1000);
      await checkout.enqueueDueWork(id);
      await eventually(async () => assert.deepEqual(await checkout.state(id), expected));
    },
    startWorker: start,
    async forgetWork() {
      await Payment.query(app.db)
        .patch({ stage: null, dueAt: null })
        .where({ accountId: merchant.accountId });
    },
    async close() {
      // A worker waits for the calls that it has begun.
      for (const dial of [facilitator.supported, facilitator.verify, facilitator.settle]) dial.releaseAll();
      await Promise.all(workers.map((running) => running.close()));
      await checkout.forgetWork();
      await app.close();
      await facilitator.close();
    },
  };
  return checkout;
}

/** Opens a checkout with a Base Sepolia of its own, on which the facilitator moves money and the workers read it. */
export async function openCheckoutOnChain(
  environment: Record<string, string> = {},
  kind: Kind = 'session',
): Promise<Checkout & { chain: EvmChain }> {
  const chain = await EvmChain.start(84532);
  const facilitator = await startFacilitator({
    onSettled: ({ asset, from, to, amount, paymentId, transaction }) => {
      chain.movePayment({ asset, from, payTo: to, amount, nonce: paymentId }, transaction);
    },
  });
  const checkout = await openCheckout({
    kind,
    facilitator,
    environment: { RPC_URL_EIP155_84532: chain.endpoint.url, ...environment },
  });
  return {
    ...checkout,
    chain,
    async close() {
      await checkout.close();
      await chain.close();
    },
  };
}

export function findEntry(
  accepts: readonly PaymentRequirements[],
  network: string,
  asset?: string,
): PaymentRequirements {
  const entry = accepts.find(
    (offered) => offered.network === network && (asset === undefined || offered.asset === asset),
  );
  if (entry === undefined) throw new Error(`Nothing is offered on ${network}.`);
  return entry;
}

/** An entry as the facilitator gets it: without what only buyers are told. */
export function withoutHints(entry: PaymentRequirements): PaymentRequirements {
  const { primaryType: _, memo: __, ...extra } = entry.extra as EvmExtra & SvmExtra;
  return { ...entry, extra };
}
