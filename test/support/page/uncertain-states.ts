import type { Visit, Visitor } from '../../../lab/world/page/visit.js';
import { fundedWallet } from '../../../lab/world/page/wallets.js';
import { buildSurplus, buildUncertainPayment } from '../uncertain-payment.js';
import { expectStatus } from './expected-problems.js';
import type { Shop } from './shop.js';

export type ReachState = (shop: Shop, visit: Visit) => Promise<Visitor>;

async function uncertain(shop: Shop, visit: Visit): Promise<Visitor> {
  const { session } = await buildUncertainPayment(shop);
  const visitor = await shop.visitPage(session, { ...visit, wallets: [fundedWallet()] });
  await visitor.page.locator('#uncertain-read:not([hidden])').waitFor();
  return visitor;
}

/** The states of the page after a payment that may have been taken, or that was taken besides another. */
export const UNCERTAIN_STATES = {
  uncertain,
  'uncertain, when it is read': async (shop, visit) => {
    const visitor = await uncertain(shop, visit);
    await visitor.press('I have read this');
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).waitFor();
    return visitor;
  },
  'uncertain when it expired': async (shop, visit) => {
    const { session } = await buildUncertainPayment(shop, { status: 'expired' });
    return await expectStatus(410, () => shop.visitPage(session, visit));
  },
  'uncertain refund': async (shop, visit) => {
    const { session } = await buildUncertainPayment(shop, { isRefund: true });
    const visitor = await shop.visitPage(session, visit);
    await visitor.page.locator('#uncertain-read:not([hidden])').waitFor();
    return visitor;
  },
  'paid twice, in German': async (shop, visit) => {
    const { session } = await buildSurplus(shop);
    return await shop.visitPage(session, { ...visit, browser: { ...visit.browser, locale: 'de' } });
  },
} as const satisfies Record<string, ReachState>;
