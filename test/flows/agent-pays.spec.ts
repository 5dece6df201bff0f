import assert from 'node:assert/strict';
import { x402Client as AxiosClient, wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import axios from 'axios';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';

const STORES: Record<string, Record<string, string>> = {
  Redis: {},
  'the Postgres queue store': { REDIS_URL: '' },
};

for (const [store, environment] of Object.entries(STORES)) {
  describe(`a stock agent, with the queue on ${store}`, () => {
    const checkout = forAllTests(() => openCheckout({ environment }));
    const buyer = privateKeyToAccount(generatePrivateKey());

    const linkOf = (id: string): string => `http://127.0.0.1:${checkout.app.port}/c/${id}`;

    it('pays a link with @x402/fetch, unmodified except for its spending limit', async () => {
      const session = await checkout.buildSession();
      const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
      client.setSpendControls({ maxAmountPerPayment: '$100' });
      const response = await wrapFetchWithPayment(fetch, client)(linkOf(session.id));
      const body = JSON.parse(await response.text());
      assert.equal(response.status, 200, JSON.stringify(body));
      assert.equal(body.status, 'complete');
      assert.equal(body.session.payment.payer.toLowerCase(), buyer.address.toLowerCase());
      const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '');
      assert.equal(receipt.success, true);
      assert.equal(receipt.transaction, checkout.facilitator.ledger.at(-1)?.transaction);
      assert.equal((await checkout.session(session.id)).status, 'complete');
      assert.deepEqual(await checkout.events(session.id), ['checkout.session.completed']);
    });

    it('pays a link of up to one dollar with @x402/fetch and its default spending limit', async () => {
      const session = await checkout.buildSession({ amountTotalCents: 100 });
      const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
      const response = await wrapFetchWithPayment(fetch, client)(linkOf(session.id));
      assert.equal(response.status, 200);
      assert.equal(checkout.facilitator.ledger.at(-1)?.amount, 1_000_000n);
    });

    it('pays a link with @x402/axios', async () => {
      const session = await checkout.buildSession();
      const client = new AxiosClient().register('eip155:*', new ExactEvmScheme(buyer));
      const response = await wrapAxiosWithPayment(axios.create(), client).get(linkOf(session.id));
      assert.equal(response.status, 200);
      assert.equal(response.data.session.payment_status, 'paid');
    });

    it("has its payment settled by the queue's job, not by the sweep", async () => {
      const session = await checkout.buildSession();
      const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
      client.setSpendControls(false);
      await wrapFetchWithPayment(fetch, client)(linkOf(session.id));
      const [payment] = await checkout.payments(session.id);
      assert.equal(payment?.attempt, 1);
      assert.equal(payment?.settleCalls, 1);
    });
  });
}
