import assert from 'node:assert/strict';
import type { Account } from '../../../shared/accounts/model.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import {
  presentPublicSession,
  renderPublicSession,
} from '../../../shared/checkout-sessions/present-public.js';

const NOW = new Date('2026-11-22T03:04:05Z');
const HIDDEN = '\u202e\u200b\u{e0049}';

describe('a session as buyers see it', () => {
  const account = { name: `Cafe${HIDDEN} Pocket`, logoUrl: null } as Account;
  const session = { id: 'cs_test_1', status: 'open', expiresAt: NOW } as CheckoutSession;
  const presented = presentPublicSession(session, account, NOW);

  it('names the merchant and the items without invisible characters, and changes nothing else', () => {
    const item = (name: string, description: string | null) => ({
      name,
      description,
      images: [`https://shop.example/${HIDDEN}"\\.png`],
      amount_total: 1,
    });
    const items = [item(`Cof${HIDDEN}fee "1"\\`, `hot${HIDDEN}\n`), item('Tee 🇩🇪', null)];
    const rendered = JSON.parse(renderPublicSession(presented, JSON.stringify(items)));
    assert.equal(rendered.merchant.name, 'Cafe Pocket');
    assert.deepEqual(rendered.line_items, [item('Coffee "1"\\', 'hot\n'), item('Tee 🇩🇪', null)]);
    assert.equal(rendered.id, session.id);
  });

  it('passes items without invisible characters on as stored text', () => {
    for (const text of ['[]', '[{"name":"Café",  "description":null}]']) {
      assert.ok(renderPublicSession(presented, text).endsWith(`,"line_items":${text}}`));
    }
  });
});
