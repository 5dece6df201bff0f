import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Hex } from 'viem';
import { failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { buildRefund, buildUndecidedPayment } from '../../../lab/world/shop/factories.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import { OperatorAction } from '../../../shared/accounts/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { Event } from '../../../shared/webhooks/model.js';
import { payloadKey } from '../../../shared/x402/payload.js';
import { countLines, openBooks, USDC } from '../../support/books.js';
import { BASE_SEPOLIA, BUYER, PAID } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';

const OTHER_WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** The money arrived, and no payment has it. */
describe('reconcile --repair completes', () => {
  const books = forAllTests(() => openBooks('reconcile_repairs'));
  afterEach(async () => {
    mock.restoreAll();
    await books.startOver();
  });

  const newSession = async (): Promise<string> => (await books.buildSession()).id;
  const referTo = (id: string): string => books.app.references.nonceOf(id);
  const anyNonce = (): string =>
    `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`;

  it('an expired session, with an error line', async () => {
    const { id } = await books.buildSession({ status: 'expired' });
    books.arrives({ nonce: referTo(id) });
    const { status, lines, log } = await books.reconcile('--repair');
    assert.deepEqual([status, countLines(lines)], [1, { 'unrecorded repaired': 1 }]);
    assert.equal((await books.reconcile('--repair')).status, 0);
    assert.deepEqual(
      log.map(({ event }) => event),
      ['payment.after_expiry', 'reconcile.repaired'],
    );
    assert.deepEqual(await books.state(id), PAID);
  });

  it('a session of an earlier wallet', async () => {
    const id = await newSession();
    await updateAccount(books.app.db, books.merchant.accountId, { evmWallet: OTHER_WALLET });
    books.arrives({ nonce: referTo(id) });
    await books.reconcile('--repair');
    assert.deepEqual(await books.state(id), PAID);
  });

  it('nothing twice: a session that is paid keeps its payment, and the other is surplus', async () => {
    const id = await newSession();
    await books.payByPage(id);
    const transaction = books.arrives({ nonce: referTo(id) });
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
    books.arrives({ nonce: payload.authorization.nonce });
    const report = await books.reconcile();
    assert.deepEqual(countLines(report.lines), { unrecorded: 1 });
    assert.equal(report.lines[0]?.payment, failed.id);
    await books.reconcile('--repair');
    assert.deepEqual(await books.state(id), PAID);
    assert.equal((await books.payment(id)).id, failed.id);
  });

  it('a refund, at the wallet of its buyer, and take nothing else there for a payment', async () => {
    const { id, refund } = await buildRefund(books.db, books.merchant.accountId);
    const payTo = refund?.payTo ?? '';
    const transaction = books.arrives({ nonce: referTo(id), payTo });
    books.arrives({ nonce: anyNonce(), payTo });
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
    const earlier = await OperatorAction.query(books.db).resultSize();
    await books.reconcile();
    assert.equal(await OperatorAction.query(books.db).resultSize(), earlier);
    await books.reconcile('--repair', '--network', 'eip155:84532');
    const [action, ...others] = await OperatorAction.query(books.db).orderBy('id').offset(earlier);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [action?.what, action?.arguments],
      ['reconcile', { repair: 'true', network: 'eip155:84532' }],
    );
  });

  it('what a report has only listed before', async () => {
    const id = await newSession();
    books.arrives({ nonce: referTo(id) });
    assert.deepEqual(countLines((await books.reconcile()).lines), { unrecorded: 1 });
    assert.deepEqual((await books.reconcile()).lines, []);
    assert.deepEqual(countLines((await books.reconcile('--repair')).lines), { 'unrecorded repaired': 1 });
    assert.deepEqual(await books.state(id), PAID);
  });

  it('at once with a second command, and record the transfer once', async () => {
    const ids = [await newSession(), await newSession(), await newSession()];
    for (const id of ids) books.arrives({ nonce: referTo(id) });
    await Promise.all([books.reconcile('--repair'), books.reconcile('--repair')]);
    for (const id of ids) assert.deepEqual(await books.state(id), PAID);
  });

  it('nothing that a payment claims meanwhile, which is not decided yet', async () => {
    const nonce: Hex = books.app.references.nonceOf(await newSession());
    books.arrives({ nonce });
    const key = payloadKey(BASE_SEPOLIA, USDC, { family: 'evm', from: BUYER.address, nonce });
    const payment = { payloadKey: key, network: BASE_SEPOLIA, asset: USDC, payer: BUYER.address };
    const { endpoint } = books.evm;
    const { fetch } = endpoint;
    let claimed = false;
    mock.method(endpoint, 'fetch', async (...[url, init]: Parameters<typeof fetch>) => {
      const asksForProof = String(init?.body).includes('eth_getTransactionReceipt');
      if (asksForProof && !claimed) {
        claimed = true;
        await buildUndecidedPayment(books.db, books.merchant.accountId, payment);
      }
      return await fetch(url, init);
    });
    const { lines, counts } = await books.reconcile('--repair');
    assert.ok(claimed);
    assert.deepEqual([lines, counts.undecided], [[], 1]);
  });
});
