import assert from 'node:assert/strict';
import { x402Client as axiosClient, wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import axios from 'axios';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Checkout, openCheckout } from '../support/checkout.js';

describe('a stock agent', () => {
  let checkout: Checkout;
  const buyer = privateKeyToAccount(generatePrivateKey());
  before(async () => {
    checkout = await openCheckout();
  });
  after(() => checkout.close());

  const linkOf = (id: string): string => `http://127.0.0.1:${checkout.app.port}/c/${id}`;

  it('pays a link with @x402/fetch, unmodified but for its spending limit', async () => {
    const session = await checkout.buildSession();
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
    client.setSpendControls({ maxAmountPerPayment: '$100' });
    const response = await wrapFetchWithPayment(fetch, client)(linkOf(session.id));
    assert.equal(response.status, 200, await response.clone().text());
    const body = JSON.parse(await response.text());
    assert.equal(body.status, 'complete');
    assert.equal(body.session.payment.payer.toLowerCase(), buyer.address.toLowerCase());
    const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '');
    assert.equal(receipt.success, true);
    assert.equal(receipt.transaction, checkout.facilitator.ledger.at(-1)?.transaction);
    assert.equal((await checkout.session(session.id)).status, 'complete');
    assert.deepEqual(await checkout.events(session.id), ['checkout.session.completed']);
  });

  it('pays a link with @x402/axios', async () => {
    const session = await checkout.buildSession();
    const client = new axiosClient().register('eip155:*', new ExactEvmScheme(buyer));
    const response = await wrapAxiosWithPayment(axios.create(), client).get(linkOf(session.id));
    assert.equal(response.status, 200);
    assert.equal(response.data.session.payment_status, 'paid');
  });
});
