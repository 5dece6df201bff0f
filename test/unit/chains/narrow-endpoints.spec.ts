import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { LOG_REFUSALS, type LogRefusal } from '../../../lab/world/chains/log-refusals.js';
import { seededRandom } from '../../../lab/world/chance/seeded-random.js';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm.js';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import type { SearchPlace } from '../../../shared/chains/search-place.js';
import { buildEvmQuery } from './evm-payment.js';

describe('an EVM endpoint that answers little', () => {
  let chain: EvmChain;
  let chains: Chains;
  let payment: EvmPaymentQuery;

  beforeEach(() => {
    chain = EvmChain.inProcess(84532);
    chain.mineAt(2, 500);
    chains = createChains(new Map(), { fetch: chain.endpoint.fetch, retryPauseMs: 0 });
    payment = claim();
  });

  afterEach(() => chains.close());

  /** Of now on the chain, for five minutes. */
  function claim(): EvmPaymentQuery {
    const { timestamp } = chain.head;
    const notBefore = new Date(timestamp * 1000);
    return buildEvmQuery({ notBefore, validBefore: BigInt(timestamp + 300) });
  }

  function calls(): number {
    return [...chain.endpoint.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Looks until it is decided; undefined when it is not. */
  async function lookUntilDecided(
    most: number,
    between: () => void = () => {},
  ): Promise<{ finding: ChainFinding; looks: number } | undefined> {
    let place: SearchPlace | undefined;
    for (let looks = 1; looks <= most; looks += 1) {
      between();
      const finding = await chains.lookUp({ ...payment, place });
      if (finding.kind !== 'used') return { finding, looks };
      place = finding.place;
    }
    return undefined;
  }

  const limits: [blocks: number, keepsState: number, mostCalls: number][] = [
    [10, Number.POSITIVE_INFINITY, 25],
    [100, Number.POSITIVE_INFINITY, 25],
    [2000, Number.POSITIVE_INFINITY, 25],
    [10, 0, 14],
    [100, 0, 14],
    [2000, 0, 14],
  ];
  for (const [blocks, keepsState, mostCalls] of limits) {
    const history = keepsState === 0 ? 'no historical state' : 'historical state';
    it(`of ${blocks} blocks at once and ${history} shows the payment within ${mostCalls} calls`, async () => {
      chain.mineAt(2, 3);
      const transaction = chain.movePayment(payment);
      chain.mineAt(2, 150);
      Object.assign(chain, { maxLogRange: blocks, keepsState });
      const found = await lookUntilDecided(1);
      assert.equal(found?.finding.kind === 'paid' && found.finding.transaction, transaction);
      assert.ok(calls() <= mostCalls, `${calls()} calls`);
    });
  }

  for (const logRefusal of Object.keys(LOG_REFUSALS) as LogRefusal[]) {
    it(`of 10 blocks, refusing in the words of ${logRefusal}, is followed`, async () => {
      chain.movePayment(payment);
      chain.mineAt(2, 400);
      Object.assign(chain, { maxLogRange: 10, keepsState: 0, logRefusal });
      assert.equal((await lookUntilDecided(1))?.finding.kind, 'paid');
      chain.endpoint.calls.clear();
      payment = claim();
      chain.movePayment(payment);
      assert.equal((await lookUntilDecided(1))?.finding.kind, 'paid');
      // What it allows is remembered.
      assert.ok(chain.endpoint.callsOf('eth_getLogs') <= 2);
    });
  }

  it('is asked for more again after it has allowed more', async () => {
    Object.assign(chain, { maxLogRange: 10, keepsState: 0 });
    chain.movePayment(payment);
    await lookUntilDecided(1);
    chain.maxLogRange = 5000;
    chain.mineAt(2, 8000);
    chain.cancelAuthorization(payment);
    payment = { ...claim(), notBefore: payment.notBefore };
    chain.authorizationStateLie = true;
    chain.endpoint.calls.clear();
    await chains.lookUp(payment);
    assert.ok(
      chain.endpoint.callsOf('eth_getLogs') < 200,
      `${chain.endpoint.callsOf('eth_getLogs')} searches`,
    );
  });

  it('goes on where it stopped when it limits calls, however many looks that takes', async () => {
    chain.mineAt(2, 100);
    const transaction = chain.movePayment(payment);
    chain.mineAt(2, 200);
    Object.assign(chain, { maxLogRange: 10, keepsState: 0 });
    const found = await lookUntilDecided(12, () => {
      chain.endpoint.allowance = 6;
    });
    assert.equal(found?.finding.kind === 'paid' && found.finding.transaction, transaction);
    assert.ok(found !== undefined && found.looks > 1);
  });

  it('goes on with historical state where it stopped when it limits calls', async () => {
    chain.movePayment(payment);
    chain.mineAt(2, 2000);
    const found = await lookUntilDecided(12, () => {
      chain.endpoint.allowance = 6;
    });
    assert.equal(found?.finding.kind, 'paid');
  });

  for (const secondsBefore of [500, 660, 1200, 4000]) {
    it(`and no old state is searched back to a use ${secondsBefore} s before the claim`, async () => {
      chain.cancelAuthorization(payment);
      chain.mineAt(2, secondsBefore / 2);
      payment = { ...payment, notBefore: new Date(chain.head.timestamp * 1000) };
      Object.assign(chain, { maxLogRange: 2000, keepsState: 0 });
      const found = await lookUntilDecided(8, () => chain.mineAt(2, 15));
      assert.equal(found?.finding.kind, 'spent_otherwise');
    });
  }

  it('looks for late logs after it has gone back to the first block', async () => {
    const transaction = chain.movePayment(payment);
    Object.assign(chain, { maxLogRange: 100, keepsState: 0, hidesLogs: true });
    const found = await lookUntilDecided(12, () => chain.mineAt(2, 15));
    assert.equal(found, undefined);
    chain.hidesLogs = false;
    const late = await lookUntilDecided(1);
    assert.equal(late?.finding.kind === 'paid' && late.finding.transaction, transaction);
  });

  it('is left in time, with the place', async () => {
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
    let place: SearchPlace | undefined;
    let looks = 0;
    for (let kind = ''; kind !== 'paid'; looks += 1) {
      const finding = await slow.lookUp({ ...payment, place }, { withinMs: 300 });
      kind = finding.kind;
      assert.ok(kind === 'used' || kind === 'paid');
      assert.ok(looks < 20);
      if (finding.kind === 'used') place = finding.place;
    }
    assert.ok(looks > 1);
    slow.close();
  });

  for (const place of [
    { search: 'evm' },
    { search: 'svm', account: 'x' },
    {
      search: 'evm',
      usedAt: -1,
      unusedAt: null,
      historyEnded: false,
      from: null,
      to: 0,
      oldest: null,
      newest: 0,
    },
    { search: 'evm', usedAt: 9, unusedAt: 12, historyEnded: true, from: 1, to: 2, oldest: 0, newest: 9e15 },
    { usedAt: 'x', from: true },
  ]) {
    it(`begins anew from a place that is none: ${JSON.stringify(place)}`, async () => {
      chain.movePayment(payment);
      chain.keepsState = 0;
      assert.equal((await chains.lookUp({ ...payment, place })).kind, 'paid');
      payment = claim();
      assert.equal((await chains.lookUp({ ...payment, place })).kind, 'unused');
    });
  }

  it('finds it at the second pass when its place says that all is searched', async () => {
    const transaction = chain.movePayment(payment);
    const { number } = chain.head;
    const place = {
      search: 'evm',
      usedAt: number,
      unusedAt: null,
      historyEnded: true,
      from: 0,
      to: number + 1,
      oldest: 0,
      newest: number,
    };
    const first = await chains.lookUp({ ...payment, place });
    assert.ok(first.kind === 'used');
    const second = await chains.lookUp({ ...payment, place: first.place });
    assert.equal(second.kind === 'paid' && second.transaction, transaction);
  });

  it('does not forget that it is used when nothing can be read any more, nor when it is closed', async () => {
    chain.movePayment(payment);
    chain.hidesLogs = true;
    const first = await chains.lookUp(payment);
    assert.ok(first.kind === 'used');
    const { place } = first;
    chain.endpoint.fail('cut');
    assert.deepEqual((await chains.lookUp({ ...payment, place })).kind, 'used');
    chains.close();
    assert.deepEqual((await chains.lookUp({ ...payment, place })).kind, 'used');
  });

  describe('of two nodes behind one address', () => {
    for (const lags of [
      [0, 1],
      [0, 5],
      [7, 0],
    ]) {
      it(`that take turns and lag by ${lags.join(' and ')}, is read`, async () => {
        chain.nodes.spread(lags);
        assert.equal((await chains.lookUp(payment)).kind, 'unused');
        chain.mineAt(2, 1);
        chain.movePayment(payment);
        chain.mineAt(2, Math.max(...lags));
        assert.equal((await lookUntilDecided(3))?.finding.kind, 'paid');
      });
    }

    it('that are chosen by chance is read in nearly all looks', async () => {
      chain.nodes.spread([0, 3], seededRandom(7));
      let unread = 0;
      for (let looked = 0; looked < 200; looked += 1) {
        if ((await chains.lookUp(payment)).kind === 'unreadable') unread += 1;
      }
      assert.ok(unread <= 4, `${unread} of 200`);
    });
  });

  describe('whose chain stands still', () => {
    it('says that no time has passed, and the payment lands when it goes on', async () => {
      chain.halt();
      const transaction = chain.movePayment(payment);
      const { timestamp } = chain.head;
      const finding = await chains.lookUp(payment);
      const chainTime = new Date(timestamp * 1000);
      assert.deepEqual(finding, { kind: 'unused', chainTime, exhausted: false });
      chain.endpoint.fail('http_500', 'eth_call');
      const unread = await chains.lookUp(payment);
      assert.deepEqual(unread.kind === 'unreadable' && unread.chainTime, chainTime);
      chain.endpoint.recover();
      chain.resume();
      const landed = await chains.lookUp(payment);
      assert.equal(landed.kind === 'paid' && landed.transaction, transaction);
    });
  });
});
