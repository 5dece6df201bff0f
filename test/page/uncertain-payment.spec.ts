import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { EN } from '../../api/checkout-page/words/en.js';
import { refuses } from '../../lab/world/facilitator/dial.js';
import type { Visit, Visitor } from '../../lab/world/page/visit.js';
import { fundedWallet } from '../../lab/world/page/wallets.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';
import { buildSurplus, buildUncertainPayment } from '../support/uncertain-payment.js';

const PAY = '**/pay';
const FOX = /Fox Wallet/;
const READ = EN.uncertainRead;

/** A payment may have been taken: the page says so, and lets no buyer pay again by accident. */
describe('after a payment that may have been taken, the page', () => {
  const shop = forAllTests(openShop);
  before(async () => {
    await updateAccount(shop.app.db, shop.merchant.accountId, { supportEmail: 'help@cafe.example' });
  });

  const open = (id: string, visit: Visit = {}): Promise<Visitor> =>
    shop.visitPage(id, { wallets: [fundedWallet()], ...visit });

  const shown = (page: Page, text: string): Promise<number> =>
    page.getByText(text).filter({ visible: true }).count();

  /** Whom to ask, and under which reference. */
  async function assertWarns({ page }: Visitor, reference: string): Promise<void> {
    const warning = page.getByRole('alert').filter({ hasText: EN.uncertain });
    await warning.waitFor();
    const text = (await warning.textContent()) ?? '';
    assert.match(text, /Do not pay again before you have asked Cafe Pocket/);
    assert.ok(text.includes(reference), text);
    assert.equal(await shown(page, EN.nothingPaid), 0);
  }

  async function assertOffersNothing({ page }: Visitor): Promise<void> {
    assert.equal(await page.getByRole('button', { name: FOX }).count(), 0);
    assert.equal(await page.locator('#choose').isVisible(), false);
    assert.equal(await page.locator('#ways').isVisible(), false);
  }

  async function leave(visitor: Visitor): Promise<void> {
    await visitor.close();
    const others = visitor.problems.filter((problem) => !/net::|Failed to load resource|410/.test(problem));
    assert.deepEqual(others, []);
  }

  it('names payment and merchant, and takes a new payment, which may fail, once the buyer has read it', async () => {
    const { session, payment } = await buildUncertainPayment(shop);
    const visitor = await open(session.id);
    const read = visitor.page.getByRole('button', { name: READ });
    await read.waitFor();
    await assertWarns(visitor, payment.id);
    await assertOffersNothing(visitor);
    const mail = visitor.page.locator('#uncertain a');
    assert.equal(await mail.getAttribute('href'), 'mailto:help@cafe.example');
    await read.focus();
    await visitor.page.keyboard.press('Enter');
    await visitor.sees(EN.payHeading);
    assert.equal(await visitor.page.evaluate('document.activeElement.id'), 'state');
    await assertWarns(visitor, payment.id);
    assert.equal(await read.count(), 0);
    // This payment took nothing; the first one may have.
    shop.facilitator.verify.next(refuses('kyt_risk_detected'));
    await visitor.press(FOX);
    await visitor.alerts(EN.failedRefused);
    await assertWarns(visitor, payment.id);
    await visitor.press(FOX);
    await visitor.sees(EN.paid);
    await leave(visitor);
  });

  it('offers none without scripts either', async () => {
    const { session, payment } = await buildUncertainPayment(shop);
    const visitor = await open(session.id, { wallets: [], browser: { javaScriptEnabled: false } });
    await assertWarns(visitor, payment.id);
    await assertOffersNothing(visitor);
    await leave(visitor);
  });

  it('remembers after a reload that it was read, but not of another payment', async () => {
    const { session, payment } = await buildUncertainPayment(shop);
    const visitor = await open(session.id);
    await visitor.press(READ);
    await visitor.page.reload();
    await visitor.page.getByRole('button', { name: FOX }).waitFor();
    await assertWarns(visitor, payment.id);
    const second = await buildUncertainPayment(shop, { session });
    await visitor.page.reload();
    await visitor.page.getByRole('button', { name: READ }).waitFor();
    await assertWarns(visitor, second.payment.id);
    await assertOffersNothing(visitor);
    await leave(visitor);
  });

  it('says it by itself when the outcome turns uncertain while it is open', async () => {
    const { session } = await buildUncertainPayment(shop, { isUndecided: true });
    const visitor = await open(session.id);
    await visitor.sees(EN.processing);
    const { payment } = await buildUncertainPayment(shop, { session });
    await visitor.sees(EN.uncertain);
    await assertWarns(visitor, payment.id);
    await assertOffersNothing(visitor);
    assert.equal(await visitor.page.evaluate('document.activeElement.id'), 'uncertain-title');
    await leave(visitor);
  });

  it('says it while the payment service is unavailable', async () => {
    const { session, payment } = await buildUncertainPayment(shop);
    const { facilitators } = shop.app;
    const { supported } = facilitators;
    facilitators.supported = async () => undefined;
    const visitor = await open(session.id);
    await visitor.sees(EN.busy);
    await assertWarns(visitor, payment.id);
    facilitators.supported = supported;
    await leave(visitor);
  });

  it('says it when the session has expired, and asks nobody for a new link', async () => {
    const { session, payment } = await buildUncertainPayment(shop, { status: 'expired' });
    const visitor = await open(session.id);
    await visitor.sees(EN.expired);
    await assertWarns(visitor, payment.id);
    assert.equal(await visitor.page.getByText('for a new link').count(), 0);
    await leave(visitor);
  });

  it('says it in the words of a refund', async () => {
    const { session, payment } = await buildUncertainPayment(shop, { isRefund: true });
    const visitor = await open(session.id);
    await visitor.sees('A payment of this refund may have been taken');
    const text = (await visitor.page.locator('#uncertain').textContent()) ?? '';
    assert.match(text, /before Cafe Pocket has looked into its wallet/);
    assert.ok(text.includes(payment.id));
    await assertOffersNothing(visitor);
    await leave(visitor);
  });

  it('claims nothing when a session without a payment has expired, or cannot be paid now', async () => {
    const { facilitators } = shop.app;
    const { supported } = facilitators;
    for (const [status, title] of [
      ['expired', EN.expired],
      ['open', EN.busy],
    ] as const) {
      if (status === 'open') facilitators.supported = async () => undefined;
      const visitor = await open((await shop.buildSession({ status })).id);
      await visitor.sees(title);
      assert.doesNotMatch((await visitor.page.locator('main').textContent()) ?? '', /nothing was taken/i);
      assert.equal(await visitor.page.locator('#uncertain').isVisible(), false);
      facilitators.supported = supported;
      await leave(visitor);
    }
  });

  it('says so when a refusal says that the signature was used, and the chain cannot be read', async () => {
    const { id } = await shop.buildSession();
    const visitor = await open(id);
    shop.facilitator.verify.always(refuses('invalid_exact_evm_nonce_already_used'));
    await visitor.press(FOX);
    await assertWarns(visitor, id);
    await assertOffersNothing(visitor);
    // The same signature is asked about again, also after a reload, and pays once.
    await visitor.page.reload();
    await assertWarns(visitor, id);
    await assertOffersNothing(visitor);
    shop.facilitator.verify.honest();
    await visitor.press(EN.sendAgain);
    await visitor.sees(EN.paid);
    assert.equal((await shop.payments(id)).length, 1);
    await leave(visitor);
  });

  it('says so when the answers to its own payment were lost, until the buyer has read it', async () => {
    let isBlocked = true;
    const { id } = await shop.buildSession();
    const visitor = await open(id, {
      prepare: async (page) => {
        await page.clock.install();
        for (const path of [PAY, '**/status'])
          await page.route(path, (route) => (isBlocked ? route.abort() : route.continue()));
      },
    });
    await visitor.press(FOX);
    await visitor.sees(EN.checking);
    await visitor.page.clock.fastForward('30:00');
    await visitor.page.getByText(EN.lost).waitFor();
    await assertWarns(visitor, id);
    await assertOffersNothing(visitor);
    // A reload asks again before it offers to pay, though the signature has ended.
    await visitor.page.reload();
    await visitor.page.clock.fastForward('30:00');
    await assertWarns(visitor, id);
    await assertOffersNothing(visitor);
    await visitor.press(READ);
    await visitor.page.getByRole('button', { name: FOX }).waitFor();
    isBlocked = false;
    await visitor.press(EN.sendAgain);
    await visitor.sees(EN.paid);
    assert.equal((await shop.payments(id)).length, 1);
    await leave(visitor);
  });

  it('names the payment of its signature, whatever came after it', async () => {
    const { id } = await shop.buildSession();
    let isBlocked = true;
    const visitor = await open(id, {
      prepare: async (page) => {
        await page.route(PAY, async (route) => {
          if (!isBlocked) return route.continue();
          await route.fetch();
          return route.abort();
        });
      },
    });
    const hold = shop.facilitator.settle.holdNext();
    await visitor.press(FOX);
    await visitor.sees(EN.processing);
    const { id: paymentId } = await shop.payment(id);
    await buildUncertainPayment(shop, { session: await shop.session(id), paymentId });
    // The session now looks as after another payment that failed for certain.
    await Payable.query(shop.app.db).patch({ failureCode: null, failureAt: null }).where({ id });
    isBlocked = false;
    await visitor.sees(EN.uncertain);
    await assertWarns(visitor, paymentId);
    await assertOffersNothing(visitor);
    hold.release();
    await leave(visitor);
  });

  it('names on the receipt a second payment that arrived, and stays there', async () => {
    const { session, surplus } = await buildSurplus(shop);
    const { id } = session;
    const rows = Payable.query(shop.app.db).where({ id });
    await rows.clone().patch({ status: 'processing', successUrl: 'https://shop.example/thanks' });
    const visitor = await open(id);
    await visitor.sees(EN.processing);
    await rows.clone().patch({ status: 'complete' });
    await visitor.sees(EN.paid);
    assert.equal(await visitor.page.locator('#redirect').isVisible(), false);
    const block = visitor.page.locator('[data-surplus]');
    const text = (await block.textContent()) ?? '';
    assert.match(text, /Cafe Pocket has received this payment too/);
    for (const fact of [surplus.id, '$4.50', '4.50', 'USDC', 'Base Sepolia'])
      assert.ok(text.includes(fact), fact);
    const transaction = block.locator('a');
    assert.ok((await transaction.getAttribute('href'))?.endsWith(surplus.transaction ?? ''));
    // Another payment that the session kept is none that it names.
    await Payment.query(shop.app.db).patch({ surplus: false }).where({ payableId: id });
    await visitor.page.reload();
    await visitor.sees(EN.paid);
    assert.equal(await block.count(), 0);
    await leave(visitor);
  });
});
