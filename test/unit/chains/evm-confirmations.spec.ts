import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm.js';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import { buildEvmQuery } from './evm-payment.js';

describe('an outcome in blocks without their confirmations', () => {
  let chain: EvmChain;
  let chains: Chains;
  let payment: EvmPaymentQuery;

  beforeEach(async () => {
    chain = await EvmChain.start(84532);
    const urls = new Map([['EIP155_84532', chain.endpoint.url]]);
    chains = createChains(urls, { confirmations: new Map([['EIP155_84532', 3]]) });
    payment = buildEvmQuery();
  });

  afterEach(async () => {
    chains.close();
    await chain.close();
  });

  function check(parts: Partial<EvmPaymentQuery> = {}): Promise<ChainFinding> {
    return chains.check({ ...payment, ...parts });
  }

  it('does not count as spent, and pays when another block replaces its own', async () => {
    const transaction = chain.cancelAuthorization(payment);
    const pending = { kind: 'pending', transaction, pays: false };
    assert.deepEqual(await check(), pending);
    assert.deepEqual(await check({ transactionHint: transaction }), pending);
    chain.mine();
    assert.equal((await check()).kind, 'pending');
    chain.reorganise(transaction, 'dropped');
    chain.movePayment(payment);
    assert.equal((await check()).kind, 'paid');
  });

  it('counts as spent in its third block', async () => {
    const transaction = chain.cancelAuthorization(payment);
    chain.mine(2);
    assert.deepEqual(await check(), { kind: 'spent_otherwise', transaction });
  });

  it('does not end an authorization before the third block past its end', async () => {
    const validBefore = BigInt(chain.head.timestamp);
    const ends: boolean[] = [];
    for (let blocks = 0; blocks < 4; blocks += 1) {
      const finding = await check({ validBefore });
      ends.push(finding.kind === 'unused' && finding.exhausted);
      chain.mineLater();
    }
    assert.deepEqual(ends, [false, false, false, true]);
  });

  it('is not readable at an endpoint that lacks the third newest block', async () => {
    const validBefore = BigInt(chain.head.timestamp);
    chain.travel(1);
    chain.mine(3);
    chain.keepsBlocks = 1;
    chain.keepsFirstBlock = false;
    const finding = await check({ validBefore });
    assert.equal(finding.kind, 'unreadable');
    assert.match('reason' in finding ? finding.reason : '', /^the endpoint has no block \d+/);
  });
});
