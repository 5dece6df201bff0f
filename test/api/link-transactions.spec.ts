import assert from 'node:assert/strict';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import request from 'supertest';
import { solanaBalances } from '../../lab/world/chains/balances.js';
import { RpcEndpoint } from '../../lab/world/chains/rpc-endpoint.js';
import { MAX_PAGE_RPC_CALLS } from '../../shared/limits/bounds.js';
import { type Checkout, findEntry, openCheckout, SOLANA_DEVNET } from '../support/checkout.js';

const PLENTY = 1_000_000_000n;

/** Every wallet holds plenty of every token, and every RPC call is counted. */
describe('unsigned transactions for wallets', () => {
  let checkout: Checkout;
  let rpc: RpcEndpoint;
  let id: string;
  let asset: string;

  /** New for each test, so that nothing is cached. */
  beforeEach(async () => {
    rpc = await RpcEndpoint.start(solanaBalances({ caip2: SOLANA_DEVNET }, () => PLENTY));
    checkout = await openCheckout({
      worker: false,
      environment: { RPC_URL_SOLANA_DEVNET: rpc.url, RATE_LIMIT_LINK_PER_MINUTE: '100000' },
    });
    ({ id } = await checkout.buildSession());
    ({ asset } = findEntry((await checkout.quote(id)).accepts, SOLANA_DEVNET));
  });
  afterEach(async () => {
    await checkout.close();
    await rpc.close();
  });

  const wallet = (): string => Keypair.generate().publicKey.toBase58();
  const ask = (payer = wallet()) =>
    request(checkout.app.server).post(`/c/${id}/transaction`).send({ payer, asset }).expect(200);
  const blockhashOf = ({ body }: { body: { transaction: string } }): string =>
    VersionedTransaction.deserialize(Buffer.from(body.transaction, 'base64')).message.recentBlockhash;

  it('share one blockhash between concurrent requests, each with its own transaction', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    assert.equal(new Set(answers.map(blockhashOf)).size, 1);
    assert.equal(new Set(answers.map(({ body }) => body.transaction)).size, 20);
    assert.equal(rpc.callsOf('getLatestBlockhash'), 1);
    assert.equal(rpc.callsOf('getGenesisHash'), 1);
  });

  it('read the balances of a wallet once for repeated requests', async () => {
    const payer = wallet();
    await Promise.all(Array.from({ length: 20 }, () => ask(payer)));
    assert.equal(rpc.callsOf('getMultipleAccounts'), 1);
  });

  it('get a new blockhash later', async () => {
    const first = blockhashOf(await ask());
    await new Promise((resolve) => setTimeout(resolve, 1100));
    assert.notEqual(blockhashOf(await ask()), first);
  });

  it('do not multiply failing calls', async () => {
    rpc.fail('http_500');
    for (let n = 0; n < 5; n += 1) {
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask()));
      for (const { body } of answers) assert.deepEqual(body, { code: 'payment_service_unavailable' });
    }
    const calls = [...rpc.calls.values()].reduce((sum, count) => sum + count, 0);
    assert.ok(calls <= 2, `${calls} calls`);
  });

  it('never exceed the limit of concurrent calls', async () => {
    await ask();
    rpc.fail('hang', 'getMultipleAccounts');
    const before = rpc.callsOf('getMultipleAccounts');
    const pending = Array.from({ length: MAX_PAGE_RPC_CALLS + 20 }, () =>
      ask().then(({ body }) => body.code),
    );
    const codes = await Promise.all(pending);
    assert.ok(codes.every((code) => code === 'payment_service_unavailable'));
    assert.ok(rpc.callsOf('getMultipleAccounts') - before <= MAX_PAGE_RPC_CALLS);
  });
});
