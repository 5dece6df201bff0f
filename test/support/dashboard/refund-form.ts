import { buildPaidSession } from '../../../lab/world/shop/factories.js';
import type { Dashboard, Stage } from './stage.js';

interface FilledForm {
  tab: Dashboard;
  /** The payment to be refunded. */
  paymentId: string;
}

/** A tab whose clock the spec moves, with the form for a refund of one dollar. */
export async function fillRefundForm({ app, merchant, visit }: Stage): Promise<FilledForm> {
  const { payment } = await buildPaidSession(app.db, merchant.accountId);
  const tab = await visit(merchant.testKey, `#/payments/${payment.id}?refund=true`);
  await tab.page.clock.install();
  await tab.page.reload();
  await tab.page.getByLabel('Amount in dollars').fill('1');
  return { tab, paymentId: payment.id };
}
