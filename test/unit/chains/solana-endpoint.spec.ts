import assert from 'node:assert/strict';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana.js';
import { returnToPresent, travelMs } from '../../../shared/clock.js';
import type { Fault } from '../../support/chain.js';
import { SolanaChain } from '../../support/solana-chain.js';
import { buildSolanaPayment, DEVNET } from './solana-payment.js';

describe('a Solana endpoint', () => {
  let chain: SolanaChain;
  let chains: Chains;
  let blockhash: string;
  let payment: SolanaPaymentQuery;

  beforeEach(async () => {
    chain = await SolanaChain.start(DEVNET);
    chains = createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]]));
    blockhash = chain.issueBlockhash();
    payment = buildSolanaPayment(blockhash).query;
  });

  afterEach(async () => {
    returnToPresent();
    chains.close();
    await chain.close();
  });

  async function assertUnreadable(finding: Promise<ChainFinding>, reason: RegExp): Promise<void> {
    const found = await finding;
    assert.equal(found.kind, 'unreadable');
    assert.match(found.kind === 'unreadable' ? found.reason : '', reason);
  }

  const faults: [fault: Fault, reason: RegExp][] = [
    ['cut', /cannot be reached: UND_ERR_SOCKET|cannot be reached: ECONNRESET/],
    ['http_500', /HTTP 500/],
    ['http_429', /HTTP 429/],
    ['garbage', /cannot be used/],
    ['wrong_shape', /./],
  ];
  const methods = [
    'getGenesisHash',
    'getSlot',
    'getBlockTime',
    'getSignaturesForAddress',
    'getTransaction',
    'getSignatureStatuses',
  ];
  for (const [fault, reason] of faults) {
    for (const method of methods) {
      it(`that fails by ${fault} at ${method} says nothing, and all when it is back`, async () => {
        chain.movePayment(payment.signedTransaction);
        chain.endpoint.fail(fault, method);
        await assertUnreadable(chains.lookUp(payment), reason);
        chain.endpoint.recover();
        assert.equal((await chains.lookUp(payment)).kind, 'paid');
      });
    }

    it(`that fails by ${fault} when asked for the blockhash says nothing`, async () => {
      chain.travel(200);
      chain.endpoint.fail(fault, 'isBlockhashValid');
      await assertUnreadable(chains.lookUp(payment), reason);
    });
  }

  it('that refuses connections says nothing', async () => {
    await chain.endpoint.close();
    await assertUnreadable(chains.lookUp(payment), /ECONNREFUSED/);
  });

  it('of another cluster says nothing, whatever it holds', async () => {
    chain.movePayment(payment.signedTransaction);
    chain.genesisHash = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
    await assertUnreadable(chains.lookUp(payment), /another Solana cluster/);
  });

  it('that does not tell whether the transaction succeeded says nothing', async () => {
    chain.movePayment(payment.signedTransaction);
    chain.tellsMeta = false;
    await assertUnreadable(chains.lookUp(payment), /whether the transaction succeeded/);
  });

  it('that tells no block times says nothing', async () => {
    chain.tellsTimes = false;
    await assertUnreadable(chains.lookUp(payment), /no time for slot/);
  });

  it('whose finalized block is more than two minutes old says nothing about what has not landed', async () => {
    travelMs(121_000);
    await assertUnreadable(chains.lookUp(payment), /newest finalized block is of/);
    const transactionHint = chain.movePayment(payment.signedTransaction);
    assert.equal((await chains.lookUp({ ...payment, transactionHint })).kind, 'paid');
  });

  for (const method of ['isBlockhashValid', 'getSignaturesForAddress']) {
    it(`that lags behind its own head at ${method}, as one of several nodes does, says nothing`, async () => {
      chain.travel(200);
      chain.lag.set(method, 1);
      await assertUnreadable(chains.lookUp(payment), /error -32016/);
    });
  }

  it('that lists a transaction which it does not have says nothing', async () => {
    chain.hiddenByName.add(chain.movePayment(payment.signedTransaction));
    chain.travel(200);
    await assertUnreadable(chains.lookUp(payment), /lists a transaction/);
  });

  it('that does not know the status of a transaction that it has waits', async () => {
    const transaction = chain.movePayment(payment.signedTransaction);
    chain.lag.set('getSignatureStatuses', 10);
    assert.deepEqual(await chains.lookUp(payment), { kind: 'pending', transaction });
  });

  it('passes over transactions of a version that no payment has', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.ofLaterVersion.add(
      chain.movePayment(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction),
    );
    assert.equal((await chains.lookUp(query)).kind, 'unused');
    chain.movePayment(query.signedTransaction);
    assert.equal((await chains.lookUp(query)).kind, 'paid');
  });

  it('is asked page by page', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.movePayment(query.signedTransaction);
    chain.crowd(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction, 1500);
    assert.equal((await chains.lookUp(query)).kind, 'paid');
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 3);
  });

  it('is asked for a bounded number of pages', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.movePayment(query.signedTransaction);
    chain.crowd(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction, 3000);
    await assertUnreadable(chains.lookUp(query), /too many transactions/);
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 3);
  });

  it('is asked for no page from before the claim', async () => {
    const { buyer, query } = buildSolanaPayment(blockhash);
    chain.crowd(buildSolanaPayment(blockhash, { buyer }).query.signedTransaction, 3000);
    chain.travel(3600);
    chain.movePayment(query.signedTransaction);
    const notBefore = new Date(query.notBefore.getTime() + 3_600_000);
    assert.equal((await chains.lookUp({ ...query, notBefore })).kind, 'paid');
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 1);
  });
});
