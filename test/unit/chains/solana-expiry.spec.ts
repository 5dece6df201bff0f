import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { advanceNonce } from '../../../lab/world/shop/agent.js';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import type { SearchPlace } from '../../../shared/chains/search-place.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana.js';
import { buildSolanaPayment, DEVNET, randomKey, type SolanaPayment } from './solana-payment.js';

describe('the end of a Solana payment, which comes with its blockhash', () => {
  let chain: SolanaChain;
  let chains: Chains;
  let payment: SolanaPayment;
  let place: SearchPlace | undefined;

  beforeEach(async () => {
    chain = await SolanaChain.start(DEVNET);
    chains = createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]]));
    payment = buildSolanaPayment(chain.issueBlockhash());
    place = undefined;
  });

  afterEach(async () => {
    chains.close();
    await chain.close();
  });

  /** The first look only learns the chain's time. */
  async function lookUp(parts: Partial<SolanaPaymentQuery> = {}): Promise<string> {
    const found = await chains.lookUp({ ...payment.query, place, ...parts });
    place = 'place' in found ? found.place : undefined;
    return found.kind === 'unused' && found.exhausted ? 'exhausted' : found.kind;
  }

  function land(): string {
    return chain.movePayment(payment.query.signedTransaction);
  }

  it('has come when it is too old for a finalized block, and nothing has landed', async () => {
    assert.equal(await lookUp(), 'unused');
    chain.travel(200);
    assert.equal(await lookUp(), 'exhausted');
  });

  it("is counted by the chain's clock alone, from the first look on", async () => {
    const notBefore = new Date(chain.time.getTime() - 200_000);
    chain.travel(2);
    assert.equal(await lookUp({ notBefore }), 'unused');
    chain.travel(170);
    assert.equal(await lookUp({ notBefore }), 'unused');
    chain.travel(20);
    assert.equal(await lookUp({ notBefore }), 'exhausted');
  });

  it('is counted anew when the place of the first look cannot be understood', async () => {
    await lookUp();
    chain.travel(200);
    for (const part of [{ firstTimeMs: -1 }, { firstTimeMs: null }, { firstSlot: 'x' }, { search: 'evm' }]) {
      assert.equal(await lookUp({ place: { ...place, ...part } }), 'unused');
    }
  });

  it('comes 600 s after the first look where the endpoint does not answer for blockhashes', async () => {
    chain.endpoint.fail('unknown_method', 'isBlockhashValid');
    assert.equal(await lookUp(), 'unused');
    chain.travel(300);
    assert.equal(await lookUp(), 'searching');
    chain.travel(310);
    assert.equal(await lookUp(), 'exhausted');
  });

  for (const fault of ['http_429', 'http_500', 'cut'] as const) {
    it(`does not come where the endpoint answers ${fault} when asked for the blockhash`, async () => {
      await lookUp();
      chain.endpoint.fail(fault, 'isBlockhashValid');
      chain.travel(700);
      assert.equal(await lookUp(), 'searching');
      chain.endpoint.recover();
      assert.equal(await lookUp(), 'exhausted');
    });
  }

  it('has not come for an endpoint that does not know the blockhash yet', async () => {
    payment = buildSolanaPayment(randomKey());
    await lookUp();
    assert.equal(await lookUp(), 'unused');
  });

  it('has not come when 150 blocks have passed in no time: it may be the endpoint that is wrong', async () => {
    await lookUp();
    chain.pass(400);
    assert.equal(await lookUp(), 'unused');
  });

  it('has not come while the blockhash is good, however much time has passed', async () => {
    const blockhash = chain.issueBlockhash();
    await lookUp();
    chain.travel(200);
    payment = buildSolanaPayment(chain.issueBlockhash(blockhash), { buyer: payment.buyer });
    chain.pass(32);
    assert.equal(await lookUp(), 'unused');
  });

  it('never comes for a durable nonce', async () => {
    payment = buildSolanaPayment(randomKey(), {
      before: [advanceNonce(Keypair.generate().publicKey)],
      signers: [],
    });
    await lookUp();
    chain.travel(200);
    assert.equal(await lookUp(), 'unused');
    assert.equal(chain.endpoint.callsOf('isBlockhashValid'), 0);
  });

  it('does not hide a payment that landed in time', async () => {
    await lookUp();
    land();
    chain.travel(600);
    assert.equal(await lookUp(), 'paid');
  });

  it('does not hide a payment that the endpoint lists late', async () => {
    const transaction = land();
    chain.hiddenFromLists.add(transaction);
    assert.equal(await lookUp(), 'unused');
    chain.hiddenFromLists.clear();
    chain.travel(200);
    assert.equal(await lookUp(), 'paid');
  });

  it('does not hide a payment that the facilitator has named and no list shows', async () => {
    await lookUp();
    const transactionHint = land();
    chain.hiddenFromLists.add(transactionHint);
    chain.travel(200);
    assert.equal(await lookUp({ transactionHint }), 'paid');
  });

  it('is established before the history is searched for the last time', async () => {
    await lookUp();
    chain.travel(200);
    const order: string[] = [];
    chain.endpoint.onCall = (method) => order.push(method);
    await lookUp();
    assert.ok(order.indexOf('isBlockhashValid') < order.indexOf('getSignaturesForAddress'));
  });
});
