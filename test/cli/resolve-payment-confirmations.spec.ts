import assert from 'node:assert/strict';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { openCheckout } from '../support/checkout.js';
import { assertRefused, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { useEnvironment } from '../support/environment.js';
import { forAllTests } from '../support/hooks.js';

describe('operators resolving payments of a network with confirmations', () => {
  const chain = forAllTests(() => EvmChain.start(84532));
  const network = () => ({ RPC_URL_EIP155_84532: chain.endpoint.url, CONFIRMATIONS_EIP155_84532: '3' });
  useCliDatabase();
  useEnvironment(network);
  const checkout = forAllTests(() =>
    openCheckout({ worker: false, environment: { ...network(), SETTLE_WAIT_MS: '0' } }),
  );

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

  it('are told of a cancellation without these that it does not pay', async () => {
    const { id } = await checkout.buildSession();
    const { header, accepted, payload } = await checkout.sign(id);
    assert.equal((await checkout.visit(id, { 'PAYMENT-SIGNATURE': header })).status, 202);
    const { from, nonce } = payload.authorization;
    const transaction = chain.cancelAuthorization({ asset: accepted.asset, from, nonce });
    const paid = ['resolve-payment', (await checkout.payment(id)).id, '--paid', transaction] as const;
    await assertRefused(new RegExp(`it says: pending in ${transaction}, which does not pay\\.`), ...paid);
  });
});
