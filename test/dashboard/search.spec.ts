import assert from 'node:assert/strict';
import {
  buildMerchant,
  buildPaidSession,
  buildSession,
  buildSessions,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { type Dashboard, openStage } from '../support/dashboard/stage.js';
import { forAllTests, forEachTest } from '../support/hooks.js';

const TRANSACTION = `0x${'12'.repeat(32)}`;
const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const SOLANA_TRANSACTION =
  '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';

describe('the search of the dashboard', () => {
  const stage = forAllTests(openStage);
  const merchant = forEachTest(() => buildMerchant(stage.app.db));

  async function search(tab: Dashboard, text: string): Promise<void> {
    const box = tab.page.getByRole('searchbox');
    await box.fill(text);
    await box.press('Enter');
  }

  it('goes to a payment by its id, its transaction or its wallet, and to a link by its id, its order or its buyer', async () => {
    const { db } = stage.app;
    const { accountId } = merchant;
    const paid = { transaction: TRANSACTION, amountCents: 111 };
    const { payment, session } = await buildPaidSession(db, accountId, paid);
    await buildPaidSession(db, accountId, { payer: WALLET, amountCents: 222 });
    await buildPaidSession(db, accountId, { transaction: SOLANA_TRANSACTION, amountCents: 333 });
    await buildSession(db, accountId, { clientReferenceId: 'order 5 & more', amountTotalCents: 444 });
    await buildSession(db, accountId, { customerEmail: 'buyer@mail.example', amountTotalCents: 555 });
    const tab = await stage.visit(merchant.testKey, '#/keys');
    for (const [text, title, amount] of [
      [TRANSACTION, 'Payment', '$1.11'],
      [WALLET, 'Payment', '$2.22'],
      [SOLANA_TRANSACTION, 'Payment', '$3.33'],
      ['order 5 & more', 'Link', '$4.44'],
      ['buyer@mail.example', 'Link', '$5.55'],
      [payment.id, 'Payment', '$1.11'],
      [session.id, 'Link', '$4.50'],
    ] as const) {
      await search(tab, ` ${text} `);
      await tab.sees(title);
      await tab.page.locator('.amount').getByText(amount).waitFor();
    }
    // The way back leads past the search, to the screen before.
    await tab.page.goBack();
    await tab.page.locator('.amount').getByText('$1.11').waitFor();
    await search(tab, 're_unknown');
    await tab.sees('Refund');
    await tab.page.getByText('Nothing with this id is in the data of this key.').waitFor();
    await tab.leave(404);
  });

  it('goes to a link whose order holds an @, and finds nothing by a text that is longer than any', async () => {
    const { db } = stage.app;
    const { accountId } = merchant;
    await buildSession(db, accountId, { clientReferenceId: 'buyer@mail.example', amountTotalCents: 111 });
    await buildSession(db, accountId, { clientReferenceId: '5@north', amountTotalCents: 222 });
    const tab = await stage.visit(merchant.testKey, '#/keys');
    for (const [text, amount] of [
      ['buyer@mail.example', '$1.11'],
      ['5@north', '$2.22'],
    ] as const) {
      await search(tab, text);
      await tab.sees('Link');
      await tab.page.locator('.amount').getByText(amount).waitFor();
    }
    for (const length of [129, 201]) {
      await search(tab, 'x'.repeat(length));
      await tab.page.getByText('Nothing was found.').waitFor();
      await tab.goTo('#/keys');
      await tab.sees('Keys');
    }
    await tab.leave(400);
  });

  it('goes to a payment that is being confirmed, or that may have been taken, by its transaction or its wallet', async () => {
    const uncertain = {
      status: 'failed',
      failureCode: OUTCOME_UNKNOWN,
      transaction: `0x${'34'.repeat(32)}`,
      payer: `0x${'34'.repeat(20)}`,
    } as const;
    const confirmed = { transaction: TRANSACTION, payer: WALLET, amountCents: 111 };
    for (const payment of [confirmed, uncertain])
      await buildUndecidedPayment(stage.app.db, merchant.accountId, payment);
    const tab = await stage.visit(merchant.testKey, '#/keys');
    for (const [{ transaction, payer }, shown] of [
      [confirmed, '$1.11'],
      [uncertain, 'The buyer may have paid'],
    ] as const)
      for (const text of [transaction, payer]) {
        await search(tab, text);
        await tab.sees('Payment');
        await tab.page.locator('main').getByText(shown).first().waitFor();
        await tab.goTo('#/keys');
        await tab.sees('Keys');
      }
    await tab.leave();
  });

  it('lists a payment that is being confirmed beside those that succeeded, by the wallet of all', async () => {
    const { db } = stage.app;
    const { accountId } = merchant;
    await buildPaidSession(db, accountId, { payer: WALLET, amountCents: 111 });
    await buildUndecidedPayment(db, accountId, { payer: WALLET, amountCents: 222 });
    const tab = await stage.visit(merchant.testKey, '#/keys');
    await search(tab, WALLET);
    await tab.page.getByRole('cell', { name: '$2.22' }).waitFor();
    await tab.page.getByRole('cell', { name: '$1.11' }).waitFor();
    await tab.leave();
  });

  it("lists several, says when there is none or are more than it shows, and finds nothing of another account's", async () => {
    const { db } = stage.app;
    const other = await buildMerchant(db);
    for (const cents of [100, 200])
      await buildSession(db, merchant.accountId, { clientReferenceId: 'twice', amountTotalCents: cents });
    await buildSession(db, other.accountId, { clientReferenceId: 'theirs' });
    await buildSessions(db, merchant.accountId, 101, { clientReferenceId: 'monthly' });
    const tab = await stage.visit(merchant.testKey, '#/keys');
    await search(tab, 'twice');
    await tab.page.getByRole('cell', { name: '$2.00' }).waitFor();
    assert.equal(await tab.page.locator('tbody tr').count(), 2);
    assert.equal(await tab.page.getByText('More were found').count(), 0);
    await search(tab, 'monthly');
    await tab.page.getByText('More were found: only the newest are shown.').waitFor();
    assert.equal(await tab.page.locator('tbody tr').count(), 100);
    for (const text of ['theirs', 'nobody@mail.example', WALLET, 'key_1', 'a/b?c#d%']) {
      await search(tab, text);
      await tab.page.getByText('Nothing was found.').waitFor();
      await tab.page.getByRole('searchbox').fill('');
      await tab.goTo('#/keys');
      await tab.sees('Keys');
    }
    await tab.leave();
  });
});
