import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Keypair } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { type Chains, createChains } from '../../../shared/chains/confirmation.js';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import type { SearchPlace } from '../../../shared/chains/search-place.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana.js';
import { buildSolanaPayment, DEVNET } from './solana-payment.js';

const EARLIER = 10_000;

describe('a busy Solana wallet', () => {
  let chain: SolanaChain;
  let chains: Chains;
  let payment: SolanaPaymentQuery;
  let others: SolanaPaymentQuery[];

  beforeEach(() => {
    chain = SolanaChain.inProcess(DEVNET);
    chains = createChains(new Map(), { fetch: chain.endpoint.fetch, retryPauseMs: 0 });
    const buyer = Keypair.generate();
    const blockhash = chain.issueBlockhash();
    const first = buildSolanaPayment(blockhash, { buyer }).query;
    const { payTo } = first;
    others = Array.from({ length: 3 }, () => buildSolanaPayment(blockhash, { buyer, payTo }).query);
    chain.landMany(others[0]?.signedTransaction ?? '', EARLIER);
    buyFor(600);
    payment = buildSolanaPayment(chain.issueBlockhash(), { buyer, payTo }).query;
    payment = { ...payment, notBefore: chain.time };
  });

  afterEach(() => chains.close());

  /** Three purchases a minute, of the same wallet at the same merchant. */
  function buyFor(seconds: number): void {
    for (let passed = 0; passed < seconds; passed += 20) {
      chain.travel(20);
      chain.landMany(others[(passed / 20) % others.length]?.signedTransaction ?? '', 1);
    }
  }

  async function lookUntilDecided(
    most: number,
    between: () => void = () => {},
  ): Promise<{ finding: ChainFinding; looks: number } | undefined> {
    let place: SearchPlace | undefined;
    for (let looks = 1; looks <= most; looks += 1) {
      between();
      const finding = await chains.lookUp({ ...payment, place });
      if (finding.kind !== 'searching') return { finding, looks };
      place = finding.place;
    }
    return undefined;
  }

  for (const listsMemos of [true, false]) {
    const memos = listsMemos ? 'with' : 'without';
    it(`is decided in one look ${memos} memos in its list: paid`, async () => {
      chain.listsMemos = listsMemos;
      buyFor(20);
      const transaction = chain.movePayment(payment.signedTransaction);
      buyFor(3600);
      const found = await lookUntilDecided(1);
      assert.equal(found?.finding.kind === 'paid' && found.finding.transaction, transaction);
      assert.ok(chain.endpoint.callsOf('getTransaction') <= (listsMemos ? 1 : 225));
      assert.ok(chain.endpoint.callsOf('getSignaturesForAddress') <= 4);
    });

    it(`is decided in one look ${memos} memos in its list: never landed`, async () => {
      chain.listsMemos = listsMemos;
      const first = await chains.lookUp(payment);
      assert.ok(first.kind === 'unused');
      buyFor(400);
      const found = await chains.lookUp({ ...payment, place: first.place });
      assert.ok(found.kind === 'unused' && found.exhausted);
    });
  }

  /** In the middle of the pass that decides, over a payment that has not landed. */
  async function searchPartly(): Promise<SearchPlace> {
    Object.assign(chain, { listsMemos: false, pageSize: 10 });
    const first = await chains.lookUp(payment);
    assert.ok(first.kind === 'unused');
    buyFor(400);
    chain.endpoint.allowance = 14;
    const partly = await chains.lookUp({ ...payment, place: first.place });
    assert.ok(partly.kind === 'searching' && partly.place?.isFinal === true);
    chain.endpoint.allowance = Number.POSITIVE_INFINITY;
    return partly.place;
  }

  for (const fault of ['cut', 'http_500'] as const) {
    it(`is unreadable while its endpoint fails by ${fault}, up to the time that was read`, async () => {
      const place = await searchPartly();
      chain.endpoint.fail(fault);
      const finding = await chains.lookUp({ ...payment, place });
      assert.equal(finding.kind === 'unreadable' && finding.chainTime?.getTime(), place.rootTimeMs);
      chain.endpoint.recover();
      const found = await chains.lookUp({ ...payment, place });
      assert.ok(found.kind === 'unused' && found.exhausted);
    });
  }

  it('is unreadable while its endpoint hangs', async () => {
    const place = await searchPartly();
    const hanging = createChains(new Map(), {
      async fetch(input, init) {
        const isList = String(init?.body).includes('getSignaturesForAddress');
        if (isList && init?.signal) await once(init.signal, 'abort');
        init?.signal?.throwIfAborted();
        return await chain.endpoint.fetch(input, init);
      },
    });
    const finding = await hanging.lookUp({ ...payment, place }, { withinMs: 500 });
    assert.equal(finding.kind === 'unreadable' && finding.chainTime?.getTime(), place.rootTimeMs);
    hanging.close();
  });

  it('is not done at the end of a page that newer transactions have filled', async () => {
    const place = await searchPartly();
    const blockhash = chain.issueBlockhash();
    const { payTo } = payment;
    const buyer = Keypair.generate();
    const [wanted, ...newer] = Array.from(
      { length: 4 },
      () => buildSolanaPayment(blockhash, { buyer, payTo }).query,
    );
    assert.ok(wanted !== undefined);
    const transaction = chain.movePayment(wanted.signedTransaction);
    const [last] = newer.map(({ signedTransaction }) => chain.movePayment(signedTransaction));
    chain.pageSize = 3;
    chain.pass(40);
    const account = buyer.publicKey.toBase58();
    const early = { ...place, account, last: last ?? '', beforeLast: null, isFinal: false };
    const found = await chains.lookUp({ ...wanted, place: early });
    assert.equal(found.kind === 'paid' && found.transaction, transaction);
  });

  it('is decided page by page and call by call where the endpoint limits both', async () => {
    chain.listsMemos = false;
    chain.pageSize = 10;
    buyFor(20);
    const transaction = chain.movePayment(payment.signedTransaction);
    buyFor(400);
    const found = await lookUntilDecided(20, () => {
      chain.endpoint.allowance = 10;
    });
    assert.equal(found?.finding.kind === 'paid' && found.finding.transaction, transaction);
    assert.ok(found !== undefined && found.looks > 1);
  });

  it('is not called exhausted by a pass that began before its blockhash was too old', async () => {
    chain.listsMemos = false;
    chain.pageSize = 20;
    buyFor(20);
    chain.endpoint.allowance = 12;
    const early = await chains.lookUp(payment);
    assert.ok(early.kind === 'searching');
    const transaction = chain.movePayment(payment.signedTransaction);
    buyFor(400);
    chain.endpoint.allowance = Number.POSITIVE_INFINITY;
    const late = await chains.lookUp({ ...payment, place: early.place });
    assert.equal(late.kind === 'paid' && late.transaction, transaction);
  });

  it('is searched by the quieter of its accounts', async () => {
    const stranger = buildSolanaPayment(chain.issueBlockhash()).query;
    const ofWallet = { ...payment, payTo: stranger.payTo };
    const buyer = Keypair.generate();
    const quiet = buildSolanaPayment(chain.issueBlockhash(), { buyer, payTo: ofWallet.payTo }).query;
    payment = { ...quiet, notBefore: chain.time };
    const transaction = chain.movePayment(quiet.signedTransaction);
    chain.endpoint.calls.clear();
    const found = await lookUntilDecided(1);
    assert.equal(found?.finding.kind === 'paid' && found.finding.transaction, transaction);
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 1);
  });

  for (const place of [
    { search: 'svm' },
    { search: 'evm', usedAt: 1 },
    {
      search: 'svm',
      account: 'x',
      rootSlot: 1,
      rootTimeMs: 1,
      isFinal: true,
      beforeLast: null,
      last: null,
      isInDoubt: false,
    },
    { account: 7, last: {} as never },
  ]) {
    it(`begins anew from a place that is none: ${JSON.stringify(place)}`, async () => {
      buyFor(20);
      assert.equal((await chains.lookUp({ ...payment, place })).kind, 'unused');
      chain.movePayment(payment.signedTransaction);
      assert.equal((await chains.lookUp({ ...payment, place })).kind, 'paid');
    });
  }

  for (const refuses of [false, true]) {
    const answer = refuses ? 'is refused' : 'lists nothing';
    it(`begins anew when its place is not in the list any more and ${answer}`, async () => {
      chain.refusesUnknownCursors = refuses;
      chain.listsMemos = false;
      chain.movePayment(payment.signedTransaction);
      buyFor(200);
      chain.endpoint.allowance = 12;
      const early = await chains.lookUp(payment);
      assert.ok(early.kind === 'searching' && early.place);
      chain.endpoint.allowance = Number.POSITIVE_INFINITY;
      const unknown = { ...early.place, last: '5'.repeat(87), beforeLast: '5'.repeat(87) };
      const lost = await chains.lookUp({ ...payment, place: unknown });
      assert.ok(lost.kind === 'searching' && lost.place?.account === undefined);
      assert.equal((await chains.lookUp({ ...payment, place: lost.place })).kind, 'paid');
    });
  }

  it('whose cluster stands still has not expired, however late it is here', async () => {
    chain.travel(60);
    chain.halt();
    const finding = await chains.lookUp({ ...payment, notBefore: new Date(payment.notBefore.getTime()) });
    assert.ok(finding.kind === 'unused' && !finding.exhausted);
    assert.ok(finding.chainTime <= chain.time);
    chain.resume();
    chain.movePayment(payment.signedTransaction);
    assert.equal((await chains.lookUp(payment)).kind, 'paid');
  });

  for (const lags of [
    [0, 1],
    [0, 10],
    [20, 0],
  ]) {
    it(`is read behind two nodes that take turns and lag by ${lags.join(' and ')} slots`, async () => {
      chain.nodes.spread(lags);
      buyFor(40);
      assert.equal((await lookUntilDecided(4))?.finding.kind, 'unused');
      chain.movePayment(payment.signedTransaction);
      buyFor(400);
      assert.equal((await lookUntilDecided(4))?.finding.kind, 'paid');
    });
  }
});
