import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana.js';
import { nowMs } from '../../../shared/clock.js';
import { advanceNonce } from '../../support/agent.js';
import { SolanaChain } from '../../support/solana-chain.js';
import { buildSolanaPayment, DEVNET, randomKey, type SolanaPayment } from './solana-payment.js';

describe('the end of a Solana payment, which comes with its blockhash', () => {
  let chain: SolanaChain;
  let chains: Chains;
  let payment: SolanaPayment;

  beforeEach(async () => {
    chain = await SolanaChain.start(DEVNET);
    chains = createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]]));
    payment = buildSolanaPayment(chain.issueBlockhash());
  });

  afterEach(async () => {
    chains.close();
    await chain.close();
  });

  async function lookUp(parts: Partial<SolanaPaymentQuery> = {}): Promise<string> {
    const found = await chains.lookUp({ ...payment.query, ...parts });
    return found.kind === 'unused' && found.exhausted ? 'exhausted' : found.kind;
  }

  function land(): string {
    return chain.movePayment(payment.query.signedTransaction);
  }

  it('has come when it is too old for a finalized block, and nothing has landed', async () => {
    chain.travel(200);
    assert.equal(await lookUp(), 'exhausted');
  });

  it('has not come for an endpoint that does not know the blockhash yet', async () => {
    payment = buildSolanaPayment(randomKey());
    assert.equal(await lookUp(), 'unused');
  });

  it('has not come when 150 blocks have passed in no time: it may be the endpoint that is wrong', async () => {
    chain.pass(400);
    assert.equal(await lookUp(), 'unused');
  });

  it('has not come while the blockhash is good, however much time has passed', async () => {
    chain.pass(100);
    assert.equal(await lookUp({ notBefore: new Date(nowMs() - 600_000) }), 'unused');
  });

  it('never comes for a durable nonce', async () => {
    payment = buildSolanaPayment(randomKey(), {
      before: [advanceNonce(Keypair.generate().publicKey)],
      signers: [],
    });
    chain.travel(200);
    assert.equal(await lookUp(), 'unused');
    assert.equal(chain.endpoint.callsOf('isBlockhashValid'), 0);
  });

  it('does not hide a payment that landed in time', async () => {
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
    const transactionHint = land();
    chain.hiddenFromLists.add(transactionHint);
    chain.travel(200);
    assert.equal(await lookUp({ transactionHint }), 'paid');
  });

  it('is established before the history is searched for the last time', async () => {
    chain.travel(200);
    const order: string[] = [];
    chain.endpoint.onCall = (method) => order.push(method);
    await lookUp();
    assert.ok(order.indexOf('isBlockhashValid') < order.indexOf('getSignaturesForAddress'));
  });
});
