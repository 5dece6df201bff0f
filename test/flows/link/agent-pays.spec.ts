import assert from 'node:assert/strict';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { openCheckout } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';

const STORES: Record<string, Record<string, string>> = {
  Redis: {},
  'the Postgres queue store': { REDIS_URL: '' },
};

/** test/flows/sandbox/sandbox-payments.spec.ts has @x402/axios, and every token. */
for (const [store, environment] of Object.entries(STORES)) {
  describe(`a stock agent, with the queue on ${store}`, () => {
    const checkout = forAllTests(() => openCheckout({ environment }));
    const buyer = privateKeyToAccount(generatePrivateKey());

    it("pays a link of up to one dollar with its default spending limit, settled by the queue's job, not by the sweep", async () => {
      const { id } = await checkout.buildSession({ amountTotalCents: 100 });
      const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
      const response = await wrapFetchWithPayment(
        fetch,
        client,
      )(`http://127.0.0.1:${checkout.app.port}/c/${id}`);
      const body = JSON.parse(await response.text());
      assert.deepEqual([response.status, body.status], [200, 'complete'], JSON.stringify(body));
      assert.equal(body.session.payment.payer.toLowerCase(), buyer.address.toLowerCase());
      const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '');
      assert.equal(receipt.success, true);
      const [moved] = checkout.facilitator.ledger;
      assert.deepEqual([receipt.transaction, 1_000_000n], [moved?.transaction, moved?.amount]);
      assert.equal((await checkout.session(id)).status, 'complete');
      assert.deepEqual(await checkout.events(id), ['checkout.session.completed']);
      const { attempt, settleCalls } = await checkout.payment(id);
      assert.deepEqual([attempt, settleCalls], [1, 1]);
    });
  });
}
