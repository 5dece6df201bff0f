import assert from 'node:assert/strict';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { type Checkout, openCheckout } from '../support/checkout.js';
import { assertRefused, runJson } from '../support/cli.js';
import { testServices } from '../support/suite.js';

describe('operators resolving payments of a network with confirmations', () => {
  let checkout: Checkout;
  let chain: EvmChain;
  const SET = ['DATABASE_URL', 'RPC_URL_EIP155_84532', 'CONFIRMATIONS_EIP155_84532'] as const;
  const earlier = SET.map((name) => [name, process.env[name]] as const);
  before(async () => {
    chain = await EvmChain.start(84532);
    const environment = { RPC_URL_EIP155_84532: chain.endpoint.url, CONFIRMATIONS_EIP155_84532: '3' };
    Object.assign(process.env, environment, { DATABASE_URL: testServices().databaseUrl });
    checkout = await openCheckout({ worker: false, environment: { ...environment, SETTLE_WAIT_MS: '0' } });
  });
  after(async () => {
    for (const [name, value] of earlier) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await checkout.close();
    await chain.close();
  });

  it('wait for these before a transaction counts as paid', async () => {
    const { id } = await checkout.buildSession();
    const { header, accepted, payload } = await checkout.sign(id);
    assert.equal((await checkout.visit(id, { 'PAYMENT-SIGNATURE': header })).status, 202);
    const { from, to, value, nonce } = payload.authorization;
    const transfer = { asset: accepted.asset, from, payTo: to, amount: BigInt(value), nonce };
    const transaction = chain.movePayment(transfer);
    const paid = ['resolve-payment', (await checkout.payment(id)).id, '--paid', transaction] as const;
    await assertRefused(/has 1 of the 3 confirmations/, ...paid);
    chain.mine();
    await assertRefused(/has 2 of the 3 confirmations/, ...paid);
    assert.equal((await checkout.session(id)).status, 'processing');
    chain.mine();
    assert.equal((await runJson(...paid)).status, 'succeeded');
    assert.equal((await checkout.session(id)).status, 'complete');
  });
});
