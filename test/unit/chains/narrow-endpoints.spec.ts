import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { LOG_REFUSALS, type LogRefusal } from '../../../lab/world/chains/log-refusals.js';
import { seededRandom } from '../../../lab/world/chance/seeded-random.js';
import { type Chains, createChains } from '../../../shared/chains/chains.js';
import type { SearchPosition } from '../../../shared/chains/check/search-position.js';
import { AnswerTooLong } from '../../../shared/chains/check/unreadable.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm/evm.js';
import type { ChainFetch } from '../../../shared/chains/rpc/rpc-fetch.js';
import { assertPaid, checkUntilDecided } from './assert-found.js';
import { buildEvmQuery } from './evm-payment.js';
import { openUnpaced } from './unpaced.js';

describe('an EVM endpoint with tight limits', () => {
  let chain: EvmChain;
  let chains: Chains;
  let payment: EvmPaymentQuery;

  beforeEach(() => {
    chain = EvmChain.inProcess(84532);
    chain.mineAt(2, 500);
    chains = openUnpaced(chain.endpoint.fetch);
    payment = claim();
  });

  afterEach(() => chains.close());

  /** A payment claimed at the chain's present time and valid for five minutes. */
  function claim(): EvmPaymentQuery {
    const { timestamp } = chain.head;
    const notBefore = new Date(timestamp * 1000);
    return buildEvmQuery({ notBefore, validBefore: BigInt(timestamp + 300) });
  }

  for (const [history, keepsState, mostCalls] of [
    ['historical state', Number.POSITIVE_INFINITY, 25],
    ['no historical state', 0, 16],
  ] as const)
    for (const blocks of [10, 100, 2000])
      it(`of ${blocks} blocks at once and ${history} shows the payment within ${mostCalls} calls`, async () => {
        chain.mineAt(2, 3);
        const transaction = chain.movePayment(payment);
        chain.mineAt(2, 150);
        Object.assign(chain, { maxLogRange: blocks, keepsState });
        await assertPaid(checkUntilDecided(chains, payment, 1), transaction);
        assert.ok(chain.endpoint.total <= mostCalls, `${chain.endpoint.total} calls`);
      });

  it('whose answers for more than a few blocks are too long to be read is asked for fewer at once', async () => {
    chain.mineAt(2, 3);
    const transaction = chain.movePayment(payment);
    chain.mineAt(2, 150);
    chain.keepsState = 0;
    chains.close();
    const fetch: ChainFetch = async (input, init) => {
      const { method, params } = JSON.parse(String(init?.body));
      const [{ fromBlock, toBlock }] = method === 'eth_getLogs' ? params : [{ fromBlock: 0, toBlock: 0 }];
      if (Number(toBlock) - Number(fromBlock) >= 3) throw new AnswerTooLong('the answer is too long');
      return await chain.endpoint.fetch(input, init);
    };
    chains = openUnpaced(fetch);
    await assertPaid(checkUntilDecided(chains, payment, 1), transaction);
  });

  for (const logRefusal of Object.keys(LOG_REFUSALS) as LogRefusal[]) {
    it(`of 10 blocks, named in a refusal by ${logRefusal}, is obeyed`, async () => {
      chain.movePayment(payment);
      chain.mineAt(2, 400);
      Object.assign(chain, { maxLogRange: 10, keepsState: 0, logRefusal });
      assert.equal((await checkUntilDecided(chains, payment, 1))?.finding.kind, 'paid');
      chain.endpoint.calls.clear();
      payment = claim();
      chain.movePayment(payment);
      assert.equal((await checkUntilDecided(chains, payment, 1))?.finding.kind, 'paid');
      // The allowed range is remembered.
      assert.ok(chain.endpoint.callsOf('eth_getLogs') <= 2);
    });
  }

  it('is asked for larger ranges again after it has allowed them', async () => {
    Object.assign(chain, { maxLogRange: 10, keepsState: 0 });
    chain.movePayment(payment);
    await checkUntilDecided(chains, payment, 1);
    chain.maxLogRange = 5000;
    chain.mineAt(2, 8000);
    chain.cancelAuthorization(payment);
    payment = { ...claim(), notBefore: payment.notBefore };
    chain.authorizationStateLie = true;
    chain.endpoint.calls.clear();
    await chains.check(payment);
    const searches = chain.endpoint.callsOf('eth_getLogs');
    assert.ok(searches < 200, `${searches} searches`);
  });

  it('is searched from the last position over many checks when it limits calls', async () => {
    chain.mineAt(2, 100);
    const transaction = chain.movePayment(payment);
    chain.mineAt(2, 200);
    Object.assign(chain, { maxLogRange: 10, keepsState: 0 });
    const found = await checkUntilDecided(chains, payment, 12, () => {
      chain.endpoint.allowance = 6;
    });
    assert.equal(found?.finding.kind === 'paid' && found.finding.transaction, transaction);
    assert.ok(found !== undefined && found.checks > 1);
  });

  it('is read for historical state from the last position when it limits calls', async () => {
    chain.movePayment(payment);
    chain.mineAt(2, 2000);
    const found = await checkUntilDecided(chains, payment, 12, () => {
      chain.endpoint.allowance = 6;
    });
    assert.equal(found?.finding.kind, 'paid');
  });

  for (const secondsBefore of [500, 660, 1200, 4000]) {
    it(`without old state is searched back to a use ${secondsBefore} s before the claim`, async () => {
      chain.cancelAuthorization(payment);
      chain.mineAt(2, secondsBefore / 2);
      payment = { ...payment, notBefore: new Date(chain.head.timestamp * 1000) };
      Object.assign(chain, { maxLogRange: 2000, keepsState: 0 });
      const found = await checkUntilDecided(chains, payment, 8, () => chain.mineAt(2, 15));
      assert.equal(found?.finding.kind, 'spent_otherwise');
    });
  }

  it('is searched for late logs after the search has reached the first block', async () => {
    const transaction = chain.movePayment(payment);
    Object.assign(chain, { maxLogRange: 100, keepsState: 0, hidesLogs: true });
    const found = await checkUntilDecided(chains, payment, 12, () => chain.mineAt(2, 15));
    assert.equal(found, undefined);
    chain.hidesLogs = false;
    await assertPaid(checkUntilDecided(chains, payment, 1), transaction);
  });

  it('yields the position when the time of the check is over', async () => {
    const slow = createChains(new Map(), {
      retryPauseMs: 0,
      async fetch(input, init) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        init?.signal?.throwIfAborted();
        return await chain.endpoint.fetch(input, init);
      },
    });
    chain.mineAt(2, 90);
    chain.movePayment(payment);
    Object.assign(chain, { maxLogRange: 10, keepsState: 0 });
    let position: SearchPosition | undefined;
    let checks = 0;
    for (let kind = ''; kind !== 'paid'; checks += 1) {
      const finding = await slow.check({ ...payment, position }, { withinMs: 300 });
      kind = finding.kind;
      assert.ok(kind === 'used' || kind === 'paid');
      assert.ok(checks < 20);
      if (finding.kind === 'used') position = finding.position;
    }
    assert.ok(checks > 1);
    slow.close();
  });

  /** A search that has reached the first block. */
  const WHOLE = {
    search: 'evm',
    usedAt: 0,
    unusedAt: null,
    historyEnded: true,
    from: 0,
    to: 1,
    oldest: 0,
    newest: 0,
  };

  for (const position of [
    { search: 'evm' },
    { search: 'svm', account: 'x' },
    { ...WHOLE, usedAt: -1, historyEnded: false, from: null, to: 0, oldest: null },
    { ...WHOLE, usedAt: 9, unusedAt: 12, newest: 9e15 },
    { usedAt: 'x', from: true },
  ]) {
    it(`is searched anew from an invalid position: ${JSON.stringify(position)}`, async () => {
      chain.movePayment(payment);
      chain.keepsState = 0;
      assert.equal((await chains.check({ ...payment, position })).kind, 'paid');
      payment = claim();
      assert.equal((await chains.check({ ...payment, position })).kind, 'unused');
    });
  }

  it('shows the payment in the second pass when the position says that all is searched', async () => {
    const transaction = chain.movePayment(payment);
    const { number } = chain.head;
    const position = { ...WHOLE, usedAt: number, to: number + 1, newest: number };
    const first = await chains.check({ ...payment, position });
    assert.ok(first.kind === 'used');
    await assertPaid(chains.check({ ...payment, position: first.position }), transaction);
  });

  it('keeps the nonce used when nothing can be read any more, and when it is closed', async () => {
    chain.movePayment(payment);
    chain.hidesLogs = true;
    const first = await chains.check(payment);
    assert.ok(first.kind === 'used');
    const { position } = first;
    chain.endpoint.fail('cut');
    assert.deepEqual((await chains.check({ ...payment, position })).kind, 'used');
    chains.close();
    assert.deepEqual((await chains.check({ ...payment, position })).kind, 'used');
  });

  describe('of two nodes behind one URL', () => {
    for (const lags of [
      [0, 1],
      [0, 5],
      [7, 0],
    ]) {
      it(`that alternate and lag by ${lags.join(' and ')}, is read`, async () => {
        chain.nodes.spread(lags);
        assert.equal((await chains.check(payment)).kind, 'unused');
        chain.mineAt(2, 1);
        chain.movePayment(payment);
        chain.mineAt(2, Math.max(...lags));
        assert.equal((await checkUntilDecided(chains, payment, 3))?.finding.kind, 'paid');
      });
    }

    it('that are chosen at random is read in nearly all checks', async () => {
      chain.nodes.spread([0, 3], seededRandom(7));
      let unread = 0;
      for (let tried = 0; tried < 200; tried += 1) {
        if ((await chains.check(payment)).kind === 'unreadable') unread += 1;
      }
      assert.ok(unread <= 4, `${unread} of 200`);
    });
  });

  describe('whose chain is halted', () => {
    it('reports the same time, and the payment lands when the chain continues', async () => {
      chain.halt();
      const transaction = chain.movePayment(payment);
      const { timestamp } = chain.head;
      const finding = await chains.check(payment);
      const chainTime = new Date(timestamp * 1000);
      assert.deepEqual(finding, { kind: 'unused', chainTime, exhausted: false });
      chain.endpoint.fail('http_500', 'eth_call');
      const unread = await chains.check(payment);
      assert.deepEqual(unread.kind === 'unreadable' && unread.chainTime, chainTime);
      chain.endpoint.recover();
      chain.resume();
      await assertPaid(chains.check(payment), transaction);
    });
  });
});
