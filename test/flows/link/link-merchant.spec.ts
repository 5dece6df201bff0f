import assert from 'node:assert/strict';
import { PaymentRequiredV2Schema } from '@x402/core/schemas';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import { BASE_SEPOLIA, BUYER } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { decodeHeader } from '../../support/link-answers.js';
import { openQuotes } from '../../support/quotes.js';

describe('the merchant in a 402', () => {
  const checkout = forAllTests(() => openQuotes({ networks: [BASE_SEPOLIA] }));

  async function quoteOf(account: { name: string; logoUrl?: string }) {
    await updateAccount(checkout.app.db, checkout.merchant.accountId, account);
    const { id } = await checkout.buildSession();
    return { id, res: await checkout.visit(id) };
  }

  it('has a name in any script', async () => {
    const { id } = await quoteOf({ name: 'Café Москва 東京 ☕️' });
    const { resource } = await checkout.quote(id);
    assert.match(resource.description, /^\$4\.50 to Café Москва 東京 ☕️ for Coffee, /);
    assert.equal(resource.serviceName, undefined);
  });

  it("has name and logo within x402's limits, however long they are", async () => {
    const name = 'Crêperie "Zoë"\r\nSet-Cookie: a=b; \u202e\u200b🥐 '.repeat(120).slice(0, 5000);
    const { id, res } = await quoteOf({ name, logoUrl: `https://shop.example/${'l'.repeat(2000)}.png` });
    const { resource } = PaymentRequiredV2Schema.parse(decodeHeader(res.get('PAYMENT-REQUIRED') ?? ''));
    assert.equal(resource.serviceName, 'Creperie "Zoe" Set-Cookie: a=...');
    assert.equal(resource.iconUrl, `https://pay.example/c/${id}/images/logo`);
    assert.equal(res.get('Set-Cookie'), undefined);
    assert.match(res.get('PAYMENT-REQUIRED') ?? '', /^[\w+/]+={0,2}$/);
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(BUYER));
    client.setSpendControls(false);
    assert.ok(await client.createPaymentPayload(res.body));
  });
});
