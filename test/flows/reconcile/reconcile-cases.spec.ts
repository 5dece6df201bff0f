import assert from 'node:assert/strict';
import { transferLog, usedLog } from '../../../lab/world/chains/evm-logs.js';
import { answers } from '../../../lab/world/facilitator/dial.js';
import { buildMerchant, EVM_WALLET } from '../../../lab/world/shop/factories.js';
import { Payment } from '../../../shared/payments/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import { countLines, openBooks, PRICE, USDC } from '../../support/books.js';
import { BASE_SEPOLIA, BUYER } from '../../support/checkout.js';
import { emptyTables } from '../../support/empty-tables.js';
import { forAllTests } from '../../support/hooks.js';

const OTHER_WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

describe('books held against the chains', () => {
  const books = forAllTests(() => openBooks('reconcile_cases'));
  afterEach(() => books.startOver());

  const newSession = async (): Promise<string> => (await books.buildSession()).id;
  const referTo = (id: string): string => books.app.references.nonceOf(id);
  const anyNonce = (): string =>
    `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`;

  it('match after payments of every kind, and the exit status is 0', async () => {
    for (const pay of [books.payByPage, books.payByAgent, books.paySolana]) await pay(await newSession());
    const { status, lines } = await books.reconcile();
    assert.deepEqual([status, countLines(lines)], [0, { matched: 3 }]);
    assert.ok(
      lines.every(({ payment, checkout_session, account }) => payment && checkout_session && account),
    );
  });

  describe('complete nothing', () => {
    const wrong: [what: string, transfer: { amount?: bigint; payTo?: string }, differs: string[]][] = [
      ['of another amount, less', { amount: PRICE - 1n }, ['amount']],
      ['of another amount, more', { amount: PRICE + 1n }, ['amount']],
    ];
    for (const [what, transfer, differs] of wrong) {
      it(what, async () => {
        const id = await newSession();
        books.arrives({ nonce: referTo(id), ...transfer });
        const { status, lines } = await books.reconcile('--repair');
        assert.deepEqual([status, lines[0]?.status, lines[0]?.differs], [1, 'different', differs]);
        assert.equal(lines[0]?.checkout_session, id);
        assert.equal((await books.session(id)).status, 'open');
      });
    }

    it("at another merchant's wallet, or on the networks of the other mode", async () => {
      const id = await newSession();
      const live = (await books.buildSession({ livemode: true })).id;
      await buildMerchant(books.app.db, { evmWallet: OTHER_WALLET, solanaWallet: null });
      books.arrives({ nonce: referTo(id), payTo: OTHER_WALLET });
      books.arrives({ nonce: referTo(live) });
      const { lines } = await books.reconcile('--repair');
      assert.deepEqual(countLines(lines), { 'different receiver': 1, 'different token': 1 });
      for (const session of [id, live]) assert.equal((await books.session(session)).status, 'open');
    });

    it('for a transfer that its payer did not authorize', async () => {
      const id = await newSession();
      const elsewhere = { asset: USDC, from: BUYER.address, payTo: OTHER_WALLET, amount: PRICE };
      const here = { ...elsewhere, payTo: EVM_WALLET };
      // The authorization moved the money elsewhere, and the same transaction sent other money here.
      books.evm.execute([
        usedLog({ ...here, nonce: referTo(id) }),
        transferLog(elsewhere),
        transferLog(here),
      ]);
      // Another contract's buyer has authorized something.
      books.evm.execute([
        usedLog({ asset: USDC, from: OTHER_WALLET, nonce: referTo(id) }),
        transferLog(here),
      ]);
      // The owner of the other wallet has also paid this merchant.
      books.evm.execute([transferLog({ ...here, from: OTHER_WALLET })]);
      const { lines, counts } = await books.reconcile('--repair');
      assert.deepEqual([countLines(lines), counts.others], [{ 'unrecorded no_reference': 2 }, 1]);
      assert.equal((await books.session(id)).status, 'open');
    });

    it('for a reverted transaction, or one without an authorization', async () => {
      const id = await newSession();
      const transfer = { asset: USDC, from: BUYER.address, payTo: EVM_WALLET, amount: PRICE };
      books.evm.execute([usedLog({ ...transfer, nonce: referTo(id) }), transferLog(transfer)], 'reverted');
      books.evm.execute([transferLog(transfer)]);
      const { status, lines, counts } = await books.reconcile('--repair');
      assert.deepEqual([status, lines, counts.others], [0, [], 1]);
    });

    it("for references made with another service's key", async () => {
      const id = await newSession();
      const foreign = await openBooks('reconcile_foreign', {
        environment: { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
      });
      books.arrives({ nonce: foreign.app.references.nonceOf(id) });
      await foreign.close();
      assert.deepEqual(countLines((await books.reconcile('--repair')).lines), {
        'unrecorded no_reference': 1,
      });
    });
  });

  it('name a succeeded payment without a transfer', async () => {
    const id = await newSession();
    const transaction = `0x${'cd'.repeat(32)}`;
    const success = { success: true, transaction, network: BASE_SEPOLIA, payer: BUYER.address };
    books.facilitator.settle.next(answers(200, success));
    const { header } = await books.sign(id);
    const answer = await books.visit(id, { 'PAYMENT-SIGNATURE': header });
    assert.equal(answer.status, 200);
    const payment = await books.payment(id);
    books.evm.mineLater();
    const { status, lines, said } = await books.reconcile();
    assert.deepEqual([status, countLines(lines)], [1, { missing: 1 }], said);
    assert.deepEqual([lines[0]?.payment, lines[0]?.transaction], [payment.id, payment.transaction]);
  });

  it('name a payment whose transfer is of another amount or transaction', async () => {
    const [amount, transaction] = [await newSession(), await newSession()];
    for (const id of [amount, transaction]) await books.payByAgent(id);
    await Payment.query(books.db).patch({ tokenAmount: '4000000' }).where({ payableId: amount });
    await Payment.query(books.db)
      .patch({ transaction: `0x${'ab'.repeat(32)}` })
      .where({ payableId: transaction });
    const { status, lines } = await books.reconcile();
    assert.deepEqual([status, countLines(lines)], [1, { 'different amount': 1, 'different transaction': 1 }]);
  });

  it('leave a payment that is not decided yet to its worker', async () => {
    const id = await newSession();
    await books.payByAgent(id);
    const undecided = {
      status: 'processing',
      stage: 'confirm',
      dueAt: new Date(nowMs() + 300_000),
    } as const;
    await Payment.query(books.db)
      .patch({ ...undecided, transaction: null })
      .where({ payableId: id });
    const { status, lines, counts } = await books.reconcile('--repair');
    assert.deepEqual([status, lines, counts.undecided], [0, [], 1]);
    const { status: kept, attempt } = await books.payment(id);
    assert.deepEqual([kept, attempt], ['processing', 1]);
  });

  it('read one account, or one network, alone', async () => {
    await books.payByAgent(await newSession());
    await books.paySolana(await newSession());
    const { accountId } = books.merchant;
    assert.equal((await books.reconcile('--account', accountId)).lines.length, 2);
    assert.equal((await books.reconcile('--network', 'eip155:84532')).lines.length, 1);
    const alone = await buildMerchant(books.app.db, { evmWallet: OTHER_WALLET, solanaWallet: null });
    assert.deepEqual((await books.reconcile('--account', alone.accountId)).lines, []);
    // A report about the whole repeats the reports about single parts.
    assert.equal(
      (await books.reconcile('--network', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1')).lines.length,
      1,
    );
  });

  it('know archived payments by their transfer', async () => {
    const id = await newSession();
    await books.payByAgent(id);
    await books.db.raw(`
      INSERT INTO payment_marks (payment_id, payable_id, payload_key, payload_released, network, transaction)
      SELECT id, payable_id, payload_key, payload_released, network, transaction FROM payments`);
    await emptyTables(books.db, 'payments');
    const { status, lines } = await books.reconcile('--repair');
    assert.deepEqual([status, countLines(lines), lines[0]?.checkout_session], [0, { matched: 1 }, id]);
    assert.equal(await Payment.query(books.db).resultSize(), 0);
  });

  it('are refused for words that make no sense', async () => {
    for (const [argv, words] of [
      [['--since', 'yesterday'], /--since must be a past date or time/],
      [['--since', new Date(nowMs() + 60_000).toISOString()], /--since must be a past/],
      [['--network', 'base'], /--network must be a network's CAIP-2 id/],
      [['--account', 'acct_none'], /No such account/],
    ] as const) {
      const { status, said, lines } = await books.reconcile(...argv);
      assert.deepEqual([status, lines], [1, []]);
      assert.match(said, words);
    }
  });

  it('are printed for people without what matches, with counts at the end', async () => {
    await books.payByAgent(await newSession());
    books.arrives({ nonce: anyNonce() });
    const text = await books.printed('--since', new Date(nowMs() - 3_600_000).toISOString());
    assert.match(text.stdout, /^status: unrecorded$/m);
    assert.match(text.stdout, /^because: no_reference$/m);
    assert.doesNotMatch(text.stdout, /matched/);
    assert.match(text.stderr, /^matched: 1$/m);
    assert.match(text.stderr, /The books do not match the chains: 1 unrecorded\.$/m);
  });
});
