import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { advanceNonce } from '../../../lab/world/shop/agent.js';
import { createChains } from '../../../shared/chains/chains.js';
import type { SearchPosition } from '../../../shared/chains/check/search-position.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana/solana.js';
import { forEachTest } from '../../support/hooks.js';
import { buildSolanaPayment, DEVNET, randomKey, type SolanaPayment } from './solana-payment.js';
import { UNPACED } from './unpaced.js';

describe('the expiry of a Solana payment', () => {
  const chain = forEachTest(() => SolanaChain.start(DEVNET));
  const chains = forEachTest(() =>
    createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]]), { pace: UNPACED }),
  );
  let payment: SolanaPayment;
  let position: SearchPosition | undefined;

  beforeEach(() => {
    payment = buildSolanaPayment(chain.issueBlockhash());
    position = undefined;
  });

  /** The first check only records the chain's time. */
  async function check(parts: Partial<SolanaPaymentQuery> = {}): Promise<string> {
    const found = await chains.check({ ...payment.query, position, ...parts });
    position = 'position' in found ? found.position : undefined;
    return found.kind === 'unused' && found.exhausted ? 'exhausted' : found.kind;
  }

  function land(): string {
    return chain.movePayment(payment.query.signedTransaction);
  }

  function beforeEachList(act: (list: number) => void): void {
    let lists = 0;
    chain.endpoint.onCall = (method) => {
      if (method !== 'getSignaturesForAddress') return;
      lists += 1;
      act(lists);
    };
  }

  it('has come when the blockhash is too old for a finalized block and nothing has landed', async () => {
    assert.equal(await check(), 'unused');
    chain.travel(200);
    assert.equal(await check(), 'exhausted');
  });

  it("is measured by the chain's clock alone, from the first check on", async () => {
    const notBefore = new Date(chain.time.getTime() - 200_000);
    chain.travel(2);
    assert.equal(await check({ notBefore }), 'unused');
    chain.travel(170);
    assert.equal(await check({ notBefore }), 'unused');
    chain.travel(20);
    assert.equal(await check({ notBefore }), 'exhausted');
  });

  it('is measured anew when the position of the first check is invalid', async () => {
    await check();
    chain.travel(200);
    for (const part of [{ firstTimeMs: -1 }, { firstTimeMs: null }, { firstSlot: 'x' }, { search: 'evm' }]) {
      assert.equal(await check({ position: { ...position, ...part } }), 'unused');
    }
  });

  it('has not come at an endpoint that catches up, and shows a time before the claim', async () => {
    const slotsPerMinute = 150;
    chain.travel(7200);
    payment = buildSolanaPayment(chain.issueBlockhash());
    const notBefore = chain.time;
    land();
    chain.lag.set('*', 60 * slotsPerMinute);
    assert.equal(await check({ notBefore }), 'unused');
    chain.travel(600);
    chain.lag.set('*', 40 * slotsPerMinute);
    assert.equal(await check({ notBefore }), 'unused');
    chain.lag.delete('*');
    assert.equal(await check({ notBefore }), 'paid');
  });

  it('comes 600 s after the claim when the endpoint refuses isBlockhashValid', async () => {
    chain.endpoint.fail('unknown_method', 'isBlockhashValid');
    assert.equal(await check(), 'unused');
    chain.travel(300);
    assert.equal(await check(), 'searching');
    chain.travel(330);
    assert.equal(await check(), 'exhausted');
  });

  for (const fault of ['http_429', 'http_500', 'cut'] as const) {
    it(`does not come while the endpoint answers ${fault} at isBlockhashValid`, async () => {
      await check();
      chain.endpoint.fail(fault, 'isBlockhashValid');
      chain.travel(700);
      assert.equal(await check(), 'searching');
      chain.endpoint.recover();
      assert.equal(await check(), 'exhausted');
    });
  }

  it('has not come when the endpoint does not know the blockhash yet', async () => {
    payment = buildSolanaPayment(randomKey());
    await check();
    assert.equal(await check(), 'unused');
  });

  it('has not come when 150 blocks pass in no time, since the endpoint may be wrong', async () => {
    await check();
    chain.pass(400);
    assert.equal(await check(), 'unused');
  });

  it('has not come while the blockhash is valid, however much time has passed', async () => {
    const blockhash = chain.issueBlockhash();
    await check();
    chain.travel(200);
    payment = buildSolanaPayment(chain.issueBlockhash(blockhash), { buyer: payment.buyer });
    chain.pass(32);
    assert.equal(await check(), 'unused');
  });

  it('never comes for a durable nonce', async () => {
    payment = buildSolanaPayment(randomKey(), {
      before: [advanceNonce(Keypair.generate().publicKey)],
      signers: [],
    });
    await check();
    chain.travel(200);
    assert.equal(await check(), 'unused');
    assert.equal(chain.endpoint.callsOf('isBlockhashValid'), 0);
  });

  it('does not hide a payment that landed in time', async () => {
    await check();
    land();
    chain.travel(600);
    assert.equal(await check(), 'paid');
  });

  it('does not hide a payment that the endpoint lists late', async () => {
    const transaction = land();
    chain.hiddenFromLists.add(transaction);
    assert.equal(await check(), 'unused');
    chain.hiddenFromLists.clear();
    chain.travel(200);
    assert.equal(await check(), 'paid');
  });

  for (const behind of [1, 2]) {
    it(`does not hide a payment whose list comes from a node that lists late, ${behind} of 2`, async () => {
      await check();
      land();
      chain.travel(200);
      beforeEachList((list) => {
        chain.listLag = list % 2 === behind % 2 ? 1000 : 0;
      });
      assert.equal(await check(), 'paid');
    });
  }

  it('does not hide a payment that only a node behind the others lists', async () => {
    await check();
    land();
    chain.travel(200);
    beforeEachList((list) => {
      const isBehind = list % 2 === 0;
      chain.lag.set('getSignaturesForAddress', isBehind ? 5 : 0);
      chain.listLag = isBehind ? 0 : 1000;
    });
    assert.equal(await check(), 'paid');
  });

  it('does not hide a payment that the facilitator has named and no list contains', async () => {
    await check();
    const transactionHint = land();
    chain.hiddenFromLists.add(transactionHint);
    chain.travel(200);
    assert.equal(await check({ transactionHint }), 'paid');
  });

  it('is read before the last search of the history', async () => {
    await check();
    chain.travel(200);
    const order: string[] = [];
    chain.endpoint.onCall = (method) => order.push(method);
    await check();
    assert.ok(order.indexOf('isBlockhashValid') < order.indexOf('getSignaturesForAddress'));
  });
});
