import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Keypair } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { createChains } from '../../../shared/chains/chains.js';
import type { SearchPosition } from '../../../shared/chains/check/search-position.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana/solana.js';
import { forEachTest } from '../../support/hooks.js';
import { assertPaid, checkUntilDecided } from './assert-found.js';
import { buildSolanaPayment, DEVNET } from './solana-payment.js';
import { openUnpaced } from './unpaced.js';

/** Far more than the pages that a search may list hold. */
const EARLIER = 4000;

describe('a busy Solana wallet', () => {
  const chain = forEachTest(() => SolanaChain.inProcess(DEVNET));
  const chains = forEachTest(() => openUnpaced(chain.endpoint.fetch));
  let payment: SolanaPaymentQuery;
  let others: SolanaPaymentQuery[];

  beforeEach(() => {
    const buyer = Keypair.generate();
    const blockhash = chain.issueBlockhash();
    const first = buildSolanaPayment(blockhash, { buyer }).query;
    const { payTo } = first;
    others = Array.from({ length: 3 }, () => buildSolanaPayment(blockhash, { buyer, payTo }).query);
    chain.landMany(others[0]?.signedTransaction ?? '', EARLIER);
    // The transactions before are earlier than the window of a claim.
    buyFor(660);
    payment = buildSolanaPayment(chain.issueBlockhash(), { buyer, payTo }).query;
    payment = { ...payment, notBefore: chain.time };
  });

  /** Three purchases a minute by the same wallet from the same merchant. */
  function buyFor(seconds: number): void {
    for (let passed = 0; passed < seconds; passed += 20) {
      chain.travel(20);
      chain.landMany(others[(passed / 20) % others.length]?.signedTransaction ?? '', 1);
    }
  }

  for (const listsMemos of [true, false]) {
    const memos = listsMemos ? 'with' : 'without';
    it(`is decided in one check ${memos} memos in its list: paid`, async () => {
      chain.listsMemos = listsMemos;
      buyFor(20);
      const transaction = chain.movePayment(payment.signedTransaction);
      buyFor(3600);
      await assertPaid(checkUntilDecided(chains, payment, 1), transaction);
      assert.ok(chain.endpoint.callsOf('getTransaction') <= (listsMemos ? 1 : 225));
      assert.ok(chain.endpoint.callsOf('getSignaturesForAddress') <= 4);
    });

    it(`is decided in one check ${memos} memos in its list: never landed`, async () => {
      chain.listsMemos = listsMemos;
      const first = await chains.check(payment);
      assert.ok(first.kind === 'unused');
      buyFor(400);
      const found = await chains.check({ ...payment, position: first.position });
      assert.ok(found.kind === 'unused' && found.exhausted);
      assert.ok(chain.endpoint.callsOf('getTransaction') <= (listsMemos ? 0 : 100));
    });
  }

  /** Stops in the middle of the final pass for a payment that has not landed. */
  async function searchPartly(): Promise<SearchPosition> {
    Object.assign(chain, { listsMemos: false, pageSize: 10 });
    const first = await chains.check(payment);
    assert.ok(first.kind === 'unused');
    buyFor(400);
    chain.endpoint.allowance = 14;
    const partly = await chains.check({ ...payment, position: first.position });
    assert.ok(partly.kind === 'searching' && partly.position?.isFinal === true);
    chain.endpoint.allowance = Number.POSITIVE_INFINITY;
    return partly.position;
  }

  for (const fault of ['cut', 'http_500'] as const) {
    it(`is unreadable while its endpoint fails with ${fault}, with the chain time that was read before`, async () => {
      const position = await searchPartly();
      chain.endpoint.fail(fault);
      const finding = await chains.check({ ...payment, position });
      assert.equal(finding.kind === 'unreadable' && finding.chainTime?.getTime(), position.rootTimeMs);
      chain.endpoint.recover();
      const found = await chains.check({ ...payment, position });
      assert.ok(found.kind === 'unused' && found.exhausted);
    });
  }

  it('is unreadable while its endpoint hangs', async () => {
    const position = await searchPartly();
    const hanging = createChains(new Map(), {
      async fetch(input, init) {
        const isList = String(init?.body).includes('getSignaturesForAddress');
        if (isList && init?.signal) await once(init.signal, 'abort');
        init?.signal?.throwIfAborted();
        return await chain.endpoint.fetch(input, init);
      },
    });
    const finding = await hanging.check({ ...payment, position }, { withinMs: 500 });
    assert.equal(finding.kind === 'unreadable' && finding.chainTime?.getTime(), position.rootTimeMs);
    hanging.close();
  });

  it('is searched past a page that newer transactions have filled', async () => {
    const position = await searchPartly();
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
    const early = { ...position, account, last: last ?? '', beforeLast: null, isFinal: false };
    await assertPaid(chains.check({ ...wanted, position: early }), transaction);
  });

  it('is decided page by page and call by call when the endpoint limits both', async () => {
    chain.listsMemos = false;
    chain.pageSize = 10;
    buyFor(20);
    const transaction = chain.movePayment(payment.signedTransaction);
    buyFor(400);
    const found = await checkUntilDecided(chains, payment, 20, () => {
      chain.endpoint.allowance = 10;
    });
    assert.equal(found?.finding.kind === 'paid' && found.finding.transaction, transaction);
    assert.ok(found !== undefined && found.checks > 1);
  });

  it('is not exhausted after a pass that began before its blockhash expired', async () => {
    chain.listsMemos = false;
    chain.pageSize = 20;
    buyFor(20);
    chain.endpoint.allowance = 12;
    const early = await chains.check(payment);
    assert.ok(early.kind === 'searching');
    const transaction = chain.movePayment(payment.signedTransaction);
    buyFor(400);
    chain.endpoint.allowance = Number.POSITIVE_INFINITY;
    await assertPaid(chains.check({ ...payment, position: early.position }), transaction);
  });

  it('is searched in the account with the shorter history', async () => {
    const stranger = buildSolanaPayment(chain.issueBlockhash()).query;
    const ofWallet = { ...payment, payTo: stranger.payTo };
    const buyer = Keypair.generate();
    const withStranger = buildSolanaPayment(chain.issueBlockhash(), { buyer, payTo: ofWallet.payTo }).query;
    payment = { ...withStranger, notBefore: chain.time };
    const transaction = chain.movePayment(withStranger.signedTransaction);
    chain.endpoint.calls.clear();
    await assertPaid(checkUntilDecided(chains, payment, 1), transaction);
    assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 1);
  });

  for (const position of [
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
    it(`starts a new search from an invalid position: ${JSON.stringify(position)}`, async () => {
      buyFor(20);
      assert.equal((await chains.check({ ...payment, position })).kind, 'unused');
      chain.movePayment(payment.signedTransaction);
      assert.equal((await chains.check({ ...payment, position })).kind, 'paid');
    });
  }

  for (const refuses of [false, true]) {
    const answer = refuses ? 'is refused' : 'lists nothing';
    it(`starts a new search when its position is no longer in the list and ${answer}`, async () => {
      chain.refusesUnknownCursors = refuses;
      chain.listsMemos = false;
      chain.movePayment(payment.signedTransaction);
      buyFor(200);
      chain.endpoint.allowance = 12;
      const early = await chains.check(payment);
      assert.ok(early.kind === 'searching' && early.position);
      chain.endpoint.allowance = Number.POSITIVE_INFINITY;
      const unknown = { ...early.position, last: '5'.repeat(87), beforeLast: '5'.repeat(87) };
      const lost = await chains.check({ ...payment, position: unknown });
      assert.ok(lost.kind === 'searching' && lost.position?.account === undefined);
      assert.equal((await chains.check({ ...payment, position: lost.position })).kind, 'paid');
    });
  }

  it('has not expired while the cluster is halted, whatever our clock says', async () => {
    chain.travel(60);
    chain.halt();
    const finding = await chains.check({ ...payment, notBefore: new Date(payment.notBefore.getTime()) });
    assert.ok(finding.kind === 'unused' && !finding.exhausted);
    assert.ok(finding.chainTime <= chain.time);
    chain.resume();
    chain.movePayment(payment.signedTransaction);
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  for (const lags of [
    [0, 1],
    [0, 10],
    [20, 0],
  ]) {
    it(`is read from two alternating nodes that lag by ${lags.join(' and ')} slots`, async () => {
      chain.nodes.spread(lags);
      buyFor(40);
      assert.equal((await checkUntilDecided(chains, payment, 4))?.finding.kind, 'unused');
      chain.movePayment(payment.signedTransaction);
      buyFor(400);
      assert.equal((await checkUntilDecided(chains, payment, 4))?.finding.kind, 'paid');
    });
  }
});
