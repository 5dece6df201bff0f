import assert from 'node:assert/strict';
import { type Hold, refuses } from '../../../lab/world/facilitator/dial.js';
import type { Visit, Visitor } from '../../../lab/world/page/visit.js';
import { fundedWallet, neverEnds, rejects, solanaWallet } from '../../../lab/world/page/wallets.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSession,
  buildUndecidedPayment,
} from '../../../lab/world/shop/factories.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { lowestIdAt, randomText } from '../../../shared/values/ids.js';
import type { SupportedKinds } from '../../../shared/x402/requirements.js';
import { expectStatus } from './expected-problems.js';
import type { Shop } from './shop.js';
import { type ReachState, UNCERTAIN_STATES } from './uncertain-states.js';

/** Every state of the page. Each function opens a page and brings it into that state. */
export type PageStateName = keyof typeof PAGE_STATES;

const HASH = `0x${'5c'.repeat(32)}`;

async function pay(visitor: Visitor, name = 'Fox Wallet'): Promise<void> {
  await visitor.press(new RegExp(name));
}

async function signing(shop: Shop, visit: Visit, locale = 'en-US'): Promise<Visitor> {
  const wallet = fundedWallet();
  wallet.next.set('eth_signTypedData_v4', neverEnds);
  const browser = { ...visit.browser, locale };
  const visitor = await shop.visitPage(await shop.buildSession(), { ...visit, browser, wallets: [wallet] });
  await pay(visitor);
  await visitor.page.locator('.signing > div').nth(4).waitFor();
  return visitor;
}

export const PAGE_STATES = {
  open: async (shop, visit) => {
    const visitor = await shop.visitPage(await shop.buildSession(), {
      ...visit,
      wallets: [fundedWallet(), fundedWallet('Rabbit'), solanaWallet()],
    });
    await visitor.page.getByText('Rabbit').waitFor();
    return visitor;
  },
  'open with one wallet': async (shop, visit) => {
    const visitor = await shop.visitPage(await shop.buildSession(), { ...visit, wallets: [fundedWallet()] });
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).waitFor();
    return visitor;
  },
  'open without a wallet': async (shop, visit) => {
    const visitor = await shop.visitPage(await shop.buildSession(), visit);
    await visitor.page.locator('#ways[open]').waitFor();
    return visitor;
  },
  'open in its last minutes': async (shop, visit) => {
    const session = await shop.buildSession({
      id: `${lowestIdAt('cs_test_', Date.now() - 1_800_000)}${randomText(20)}`,
      expiresAt: new Date(Date.now() + 240_000),
    });
    const visitor = await shop.visitPage(session, { ...visit, wallets: [fundedWallet()] });
    await visitor.page.locator('#countdown:not([hidden])').waitFor();
    return visitor;
  },
  'open, with balances': async (shop, visit) => {
    const wallet = fundedWallet();
    wallet.next.set('eth_signTypedData_v4', rejects);
    const visitor = await shop.visitPage(await shop.buildSession(), { ...visit, wallets: [wallet] });
    await pay(visitor);
    await visitor.page.locator('#notice > .failed').waitFor();
    await visitor.page.locator('#accepts > summary').click();
    return visitor;
  },
  signing,
  'signing, in German': (shop, visit) => signing(shop, visit, 'de'),
  submitted: async (shop, visit) => {
    const hold = shop.facilitator.verify.holdNext();
    const calls = shop.facilitator.calls.verify.length;
    const session = await shop.buildSession();
    const visitor = await shop.visitPage(session, { ...visit, wallets: [fundedWallet()] });
    await pay(visitor);
    await shop.facilitator.waitForCall('verify', calls + 1);
    return beforeLeaving(visitor, () => finish(shop, session, hold));
  },
  confirming: async (shop, visit) => {
    const hold = shop.facilitator.settle.holdNext();
    const session = await shop.buildSession();
    const visitor = await shop.visitPage(session, { ...visit, wallets: [fundedWallet()] });
    await pay(visitor);
    await visitor.hurry(visitor.page.locator('[data-mine]:not([hidden])').waitFor());
    return beforeLeaving(visitor, () => finish(shop, session, hold));
  },
  'confirming with its transaction, paid by someone else': async (shop, visit) => {
    const { session } = await buildUndecidedPayment(shop.app.db, shop.merchant.accountId, {
      reportedTransaction: HASH,
    });
    const visitor = await shop.visitPage(session, visit);
    await visitor.page.locator('[data-other]:not([hidden])').waitFor();
    return visitor;
  },
  'confirming late': async (shop, visit) => {
    const { session } = await buildUndecidedPayment(shop.app.db, shop.merchant.accountId, {
      id: `${lowestIdAt('pay_', Date.now() - 45_000)}${randomText(20)}`,
    });
    const visitor = await shop.visitPage(session, visit);
    await visitor.page.locator('#late:not([hidden])').waitFor();
    return visitor;
  },
  'paid by someone else meanwhile': async (shop, visit) => {
    const wallet = fundedWallet();
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    const session = await shop.buildSession();
    const visitor = await shop.visitPage(session, { ...visit, wallets: [wallet] });
    await pay(visitor);
    await visitor.page.locator('#step:not([hidden])').getByText('Fox Wallet').waitFor();
    await shop.pay(session.id);
    await visitor.hurry(visitor.page.locator('[data-state="complete"] #notice > .notice').waitFor());
    return visitor;
  },
  'a refund': async (shop, visit) => {
    const refund = await buildRefund(shop.app.db, shop.merchant.accountId);
    const visitor = await shop.visitPage(refund, { ...visit, wallets: [fundedWallet()] });
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).waitFor();
    return visitor;
  },
  'a refund that is paid, in Arabic': async (shop, visit) => {
    const refund = await buildRefund(shop.app.db, shop.merchant.accountId);
    await shop.pay(refund.id);
    return await shop.visitPage(refund, { ...visit, browser: { ...visit.browser, locale: 'ar' } });
  },
  paid: async (shop, visit) => {
    const { session } = await buildPaidSession(shop.app.db, shop.merchant.accountId);
    return await shop.visitPage(session, visit);
  },
  'paid, before the redirect': async (shop, visit) => {
    const session = await shop.buildSession({ successUrl: 'https://shop.example/thanks' });
    const visitor = await shop.visitPage(session, { ...visit, wallets: [fundedWallet()] });
    await pay(visitor);
    await visitor.hurry(visitor.page.locator('#redirect:not([hidden])').waitFor());
    return visitor;
  },
  failed: async (shop, visit) => {
    shop.facilitator.verify.next(refuses('kyt_risk_detected'));
    const visitor = await shop.visitPage(await shop.buildSession(), { ...visit, wallets: [fundedWallet()] });
    await pay(visitor);
    await visitor.page.locator('#notice > .failed').waitFor();
    return visitor;
  },
  ...UNCERTAIN_STATES,
  'not enough': async (shop, visit) => {
    const wallets = [fundedWallet('Fox Wallet', 1.2)];
    const visitor = await shop.visitPage(await shop.buildSession(), { ...visit, wallets });
    await visitor.choose('Base Sepolia · USDC');
    await pay(visitor);
    await visitor.page.locator('#notice > .failed').waitFor();
    return visitor;
  },
  expired: async (shop, visit) => {
    const session = await shop.buildSession({ status: 'expired', cancelUrl: 'https://shop.example/cart' });
    return await expectStatus(410, () => shop.visitPage(session, visit));
  },
  'not found': async (shop, visit) => await expectStatus(404, () => shop.visitPage('cs_test_nothing', visit)),
  busy: async (shop, visit) => await whileOffered(shop, undefined, visit),
  unavailable: async (shop, visit) => await whileOffered(shop, new Map(), visit),
  offline: async (shop, visit) => {
    const visitor = await shop.visitPage(await shop.buildSession(), { ...visit, wallets: [fundedWallet()] });
    await visitor.page.context().setOffline(true);
    await visitor.hurry(visitor.page.locator('#connection:not([hidden])').waitFor());
    return visitor;
  },
  'with a brand': async (shop, visit) => {
    const { accountId } = await buildMerchant(shop.app.db, {
      name: 'Limonade & Söhne',
      brandColor: '#ffe600',
      supportEmail: 'hilfe@limonade.example',
      logoUrl: 'https://limonade.example/logo.png',
    });
    const session = await buildSession(shop.app.db, accountId, { livemode: true, successUrl: null });
    return await shop.visitPage(session, { ...visit, wallets: [fundedWallet()] });
  },
  'right to left': async (shop, visit) => {
    const session = await shop.buildSession({ cancelUrl: 'https://shop.example/cart' });
    const browser = { ...visit.browser, locale: 'ar' };
    return await shop.visitPage(session, { ...visit, browser, wallets: [fundedWallet(), solanaWallet()] });
  },
  'paid, in Japanese': async (shop, visit) => {
    const { session } = await buildPaidSession(shop.app.db, shop.merchant.accountId);
    return await shop.visitPage(session, { ...visit, browser: { ...visit.browser, locale: 'ja' } });
  },
  'many items': async (shop, visit) => {
    const lineItems = Array.from({ length: 100 }, (_, index) => ({
      id: `li_${index}`,
      name: index === 1 ? `Coffee ${'very '.repeat(48)}` : `Roast number ${index + 1}`,
      description: index % 2 === 0 ? 'Whole beans, 250 g, roasted on Monday in small batches' : null,
      images: [],
      unitAmountCents: 1250 + index,
      quantity: (index % 3) + 1,
    }));
    const session = await shop.buildSession({
      lineItems,
      amountTotalCents: 259_900,
      cancelUrl: 'https://shop.example/cart',
    });
    return await shop.visitPage(session, { ...visit, wallets: [fundedWallet()] });
  },
} as const satisfies Record<string, ReachState>;

/** Replaces the supported networks of the facilitator while the page is open. */
async function whileOffered(shop: Shop, kinds: SupportedKinds | undefined, visit: Visit): Promise<Visitor> {
  const { facilitators } = shop.app;
  const { supported } = facilitators;
  facilitators.supported = async () => kinds;
  const visitor = await shop.visitPage(await shop.buildSession(), visit);
  return beforeLeaving(visitor, () => {
    facilitators.supported = supported;
  });
}

/** Finishes the payment, which would otherwise consume the behaviour set up for the next state. */
async function finish(shop: Shop, session: CheckoutSession, hold: Hold): Promise<void> {
  hold.release();
  await eventually(async () => assert.equal((await shop.session(session.id)).status, 'complete'));
}

function beforeLeaving(visitor: Visitor, act: () => void | Promise<void>): Visitor {
  const { leave } = visitor;
  return {
    ...visitor,
    leave: async () => {
      await act();
      await leave();
    },
  };
}
