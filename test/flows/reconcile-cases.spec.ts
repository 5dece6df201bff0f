import assert from 'node:assert/strict';
import { transferLog, usedLog } from '../../lab/world/chains/evm-logs.js';
import { answers, failsToSettle } from '../../lab/world/facilitator/dial.js';
import { buildMerchant, EVM_WALLET } from '../../lab/world/shop/factories.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { OperatorAction } from '../../shared/accounts/model.js';
import { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { Event } from '../../shared/webhooks/model.js';
import { type Books, countLines, openBooks } from '../support/books.js';
import { BASE_SEPOLIA, BUYER } from '../support/checkout.js';

const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const OTHER_WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const PRICE = 4_500_000n;
const PAID = { session: 'complete', payments: ['succeeded'], events: ['checkout.session.completed'] };

describe('books held against the chains', function () {
  this.timeout(60_000);
  let books: Books;
  beforeEach(async () => {
    books = await openBooks('reconcile_cases');
  });
  afterEach(() => books.close());

  /** A transfer with an authorization that the service never saw. */
  function arrives(transfer: { nonce: string; amount?: bigint; payTo?: string; asset?: string }): string {
    const { nonce, amount = PRICE, payTo = EVM_WALLET, asset = USDC } = transfer;
    return books.evm.movePayment({ asset, from: BUYER.address, payTo, amount, nonce });
  }
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

  describe('complete by --repair', () => {
    it('an expired session, with an error line', async () => {
      const { id } = await books.buildSession({ status: 'expired' });
      arrives({ nonce: referTo(id) });
      const { status, lines, log } = await books.reconcile('--repair');
      assert.deepEqual([status, countLines(lines)], [0, { 'unrecorded repaired': 1 }]);
      assert.deepEqual(
        log.map(({ event }) => event),
        ['payment.after_expiry', 'reconcile.repaired'],
      );
      assert.deepEqual(await books.state(id), PAID);
    });

    it('a session of an earlier wallet', async () => {
      const id = await newSession();
      await updateAccount(books.app.db, books.merchant.accountId, { evmWallet: OTHER_WALLET });
      arrives({ nonce: referTo(id) });
      await books.reconcile('--repair');
      assert.deepEqual(await books.state(id), PAID);
    });

    it('nothing twice: a session that is paid keeps its payment, and the other is surplus', async () => {
      const id = await newSession();
      await books.payByPage(id);
      const transaction = arrives({ nonce: referTo(id) });
      const { lines, log } = await books.reconcile('--repair');
      assert.deepEqual(countLines(lines), { matched: 1, 'unrecorded repaired': 1 });
      assert.deepEqual(await books.state(id), { ...PAID, payments: ['succeeded', 'succeeded'] });
      const surplus = await Payment.query(books.db).findOne({ transaction });
      assert.deepEqual([surplus?.surplus, surplus?.payableId], [true, id]);
      assert.equal(log[0]?.event, 'payment.surplus');
    });

    it('a payment that had failed, by its signature, whoever chose the nonce', async () => {
      const id = await newSession();
      const { header, payload } = await books.sign(id);
      books.facilitator.settle.next(failsToSettle('invalid_exact_evm_payload_signature'));
      await books.visit(id, { 'PAYMENT-SIGNATURE': header });
      const failed = await books.payment(id);
      assert.equal(failed.status, 'failed');
      arrives({ nonce: payload.authorization.nonce });
      const report = await books.reconcile();
      assert.deepEqual(countLines(report.lines), { unrecorded: 1 });
      assert.equal(report.lines[0]?.payment, failed.id);
      await books.reconcile('--repair');
      assert.deepEqual(await books.state(id), PAID);
      assert.equal((await books.payment(id)).id, failed.id);
    });

    it('a refund, at the wallet of its buyer, and take nothing else there for a payment', async () => {
      await books.close();
      books = await openBooks('reconcile_refunds', { kind: 'refund' });
      const { id, refund } = await books.buildSession();
      const payTo = refund?.payTo ?? '';
      const transaction = arrives({ nonce: referTo(id), payTo });
      arrives({ nonce: anyNonce(), payTo });
      const { lines } = await books.reconcile('--repair');
      assert.deepEqual(countLines(lines), { 'unrecorded repaired': 1 });
      assert.deepEqual([lines[0]?.refund, lines[0]?.transaction], [id, transaction]);
      const { status, paymentId } = await books.session(id);
      assert.deepEqual([status, paymentId], ['complete', lines[0]?.payment]);
      const events = await Event.query(books.db).where({ payableId: id });
      assert.deepEqual(
        events.map(({ type }) => type),
        ['refund.updated'],
      );
    });

    it('with an operator action for the command, and none for a report', async () => {
      await books.reconcile();
      assert.equal(await OperatorAction.query(books.db).resultSize(), 0);
      await books.reconcile('--repair', '--network', 'eip155:84532');
      const [action] = await OperatorAction.query(books.db);
      assert.deepEqual(
        [action?.what, action?.arguments],
        ['reconcile', { repair: 'true', network: 'eip155:84532' }],
      );
    });

    it('what a report has only listed before', async () => {
      const id = await newSession();
      arrives({ nonce: referTo(id) });
      assert.deepEqual(countLines((await books.reconcile()).lines), { unrecorded: 1 });
      assert.deepEqual((await books.reconcile()).lines, []);
      assert.deepEqual(countLines((await books.reconcile('--repair')).lines), { 'unrecorded repaired': 1 });
      assert.deepEqual(await books.state(id), PAID);
    });

    it('at once with a second command, and record the transfer once', async () => {
      const ids = [await newSession(), await newSession(), await newSession()];
      for (const id of ids) arrives({ nonce: referTo(id) });
      await Promise.all([books.reconcile('--repair'), books.reconcile('--repair')]);
      for (const id of ids) assert.deepEqual(await books.state(id), PAID);
    });
  });

  describe('complete nothing', () => {
    const wrong: [what: string, transfer: { amount?: bigint; payTo?: string }, differs: string[]][] = [
      ['of another amount, less', { amount: PRICE - 1n }, ['amount']],
      ['of another amount, more', { amount: PRICE + 1n }, ['amount']],
    ];
    for (const [what, transfer, differs] of wrong) {
      it(what, async () => {
        const id = await newSession();
        arrives({ nonce: referTo(id), ...transfer });
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
      arrives({ nonce: referTo(id), payTo: OTHER_WALLET });
      arrives({ nonce: referTo(live) });
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
      const { lines } = await books.reconcile('--repair');
      assert.deepEqual(countLines(lines), { 'unrecorded no_reference': 2 });
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
      arrives({ nonce: foreign.app.references.nonceOf(id) });
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
      dueAt: new Date(nowMs() + 3_600_000),
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
    // What single parts have told is not told to the whole.
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
    await books.db.raw('TRUNCATE payments CASCADE');
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
    arrives({ nonce: anyNonce() });
    const text = await books.printed('--since', new Date(nowMs() - 3_600_000).toISOString());
    assert.match(text.stdout, /^status: unrecorded$/m);
    assert.match(text.stdout, /^because: no_reference$/m);
    assert.doesNotMatch(text.stdout, /matched/);
    assert.match(text.stderr, /^matched: 1$/m);
    assert.match(text.stderr, /The books do not match the chains: 1 unrecorded\.$/m);
  });
});
