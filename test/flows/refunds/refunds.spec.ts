import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import type Stripe from 'stripe';
import { privateKeyToAddress } from 'viem/accounts';
import {
  EVM_BUYER_KEY,
  EVM_MERCHANT_KEY,
  SOLANA_BUYER_KEY,
  SOLANA_MERCHANT_KEY,
} from '../../../lab/sandbox/networks/wallets.js';
import { main } from '../../../lab/sandbox/pay/main.js';
import { fromBase58 } from '../../../lab/world/chains/base58.js';
import { EVM_WALLET, SOLANA_WALLET } from '../../../local/demo/demo-merchant.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import { Event } from '../../../shared/webhooks/model.js';
import { client } from '../../support/api-client.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';
import { assertWholeReport } from '../../support/report-sums.js';
import { openSandboxCheckout } from '../../support/sandbox-checkout.js';
import { type Agent, fetchAgent, type Wanted } from '../../support/stock-agents.js';
import { assertThrows, sdk } from '../../support/stripe-sdk.js';

const addressOf = (key: string): string => Keypair.fromSecretKey(fromBase58(key)).publicKey.toBase58();
const WAYS: [family: string, Wanted, buyer: string][] = [
  ['EVM', { network: BASE_SEPOLIA, symbol: 'USDC' }, privateKeyToAddress(EVM_BUYER_KEY)],
  ['Solana', { network: SOLANA_DEVNET, symbol: 'USDG' }, addressOf(SOLANA_BUYER_KEY)],
];

/** The specs go from the purchase to the refund's payment, on the sandbox's chains, with stock clients on both sides. */
describe('a refund', () => {
  const checkout = forAllTests(openSandboxCheckout);
  let stripe: Stripe;
  let buyer: Agent;
  let merchant: Agent;
  before(async () => {
    const { app, merchant: account } = checkout;
    const wallets = { evmWallet: EVM_WALLET, solanaWallet: SOLANA_WALLET };
    await updateAccount(app.db, account.accountId, wallets);
    stripe = sdk(account.testKey, app.port);
    buyer = await fetchAgent();
    merchant = await fetchAgent({ evm: EVM_MERCHANT_KEY, solana: SOLANA_MERCHANT_KEY });
  });

  const linkOf = (id: string): string => `http://127.0.0.1:${checkout.app.port}/c/${id}`;

  async function buy(wanted: Wanted): Promise<string> {
    const { id } = await checkout.buildSession({ clientReferenceId: 'order-7' });
    const { status } = await buyer.pay(linkOf(id), wanted);
    assert.equal(status, 200);
    return (await checkout.payment(id)).id;
  }

  async function eventsOf(refundId: string): Promise<string[]> {
    const events = await Event.query(checkout.app.db).where({ payableId: refundId }).orderBy('id');
    return events.map(({ type, object }) => `${type} ${'status' in object && object.status}`);
  }

  it("can be paid with the demo merchant's wallets, whose keys the sandbox has", () => {
    assert.equal(privateKeyToAddress(EVM_MERCHANT_KEY), EVM_WALLET);
    assert.equal(addressOf(SOLANA_MERCHANT_KEY), SOLANA_WALLET);
  });

  for (const [family, wanted, wallet] of WAYS) {
    it(`made with Stripe's SDK is paid by a stock agent on ${family}`, async () => {
      const payment_intent = await buy(wanted);
      const made = await stripe.refunds.create({
        payment_intent,
        amount: 150,
        reason: 'requested_by_customer',
        metadata: { ticket: 'T-1' },
      });
      assert.deepEqual([made.object, made.amount, made.status], ['refund', 150, 'requires_action']);
      const quote = await checkout.quote(made.id);
      const [entry, ...others] = quote.accepts;
      assert.deepEqual([entry?.network, entry?.payTo, entry?.amount], [wanted.network, wallet, '1500000']);
      assert.deepEqual(others, []);
      assert.match(quote.resource.description ?? '', /^Refund of \$1\.50 by Cafe Pocket to /);

      const { status, body, transaction } = await merchant.pay(linkOf(made.id), wanted);
      assert.equal(status, 200, JSON.stringify(body));
      const { refund, ...rest } = body;
      assert.deepEqual([rest, refund?.id, refund?.status], [{ status: 'complete' }, made.id, 'succeeded']);
      assert.equal(refund?.transaction, transaction);
      assert.equal('metadata' in (refund ?? {}), false, 'the link shows the metadata to every visitor');

      const back = (await stripe.refunds.retrieve(made.id)) as unknown as Record<string, unknown>;
      assert.deepEqual(
        [back.status, back.transaction, back.pay_to, back.url, back.metadata],
        ['succeeded', transaction, wallet, null, { ticket: 'T-1' }],
      );
      const paid = await checkout.payment(made.id);
      assert.deepEqual([paid.payTo, paid.status, paid.channel], [wallet, 'succeeded', 'x402']);
      assert.deepEqual(await eventsOf(made.id), [
        'refund.created requires_action',
        'refund.updated pending',
        'refund.updated succeeded',
      ]);
    });
  }

  it("is paid by `npm run pay` with the merchant's wallet", async () => {
    const { id } = await stripe.refunds.create({ payment_intent: await buy(WAYS[0]?.[1] as Wanted) });
    let printed = '';
    const output = { stdout: { write: (text: string) => (printed += text) }, stderr: process.stderr };
    assert.equal(await main([linkOf(id)], '/nowhere', output), 0);
    assert.match(
      printed,
      new RegExp(`Paying from ${EVM_WALLET}[\\s\\S]*Paid 4\\.50 USDC[\\s\\S]*refund +${id}`),
    );
    const again = await checkout.visit(id);
    assert.equal(answerOf(again), '200 complete');
    assert.equal(receiptOf(again)?.payer, EVM_WALLET);
  });

  it('is listed and canceled with Stripe’s SDK, and can then not be paid', async () => {
    const payment_intent = await buy(WAYS[0]?.[1] as Wanted);
    const made = await stripe.refunds.create({ payment_intent });
    const { data } = await stripe.refunds.list({ payment_intent });
    assert.deepEqual(
      data.map(({ id }) => id),
      [made.id],
    );
    assert.equal((await stripe.refunds.cancel(made.id)).status, 'canceled');
    assert.equal(answerOf(await checkout.visit(made.id)), '410 session_expired');
    await assertThrows(stripe.refunds.cancel(made.id), { code: 'refund_not_cancelable', param: 'id' });
    assert.deepEqual(await eventsOf(made.id), ['refund.created requires_action', 'refund.updated canceled']);
  });

  it('is counted in the daily report, as its payment is', async () => {
    const { app, merchant: account } = checkout;
    await assertWholeReport(client(app, account.testKey), app.db, account.accountId);
  });
});
