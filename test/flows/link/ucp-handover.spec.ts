import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import type Stripe from 'stripe';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import { client } from '../../support/api-client.js';
import { openCheckout } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { caught, sdk } from '../../support/stripe-sdk.js';

const PAGE = readFileSync(path.join(projectRoot(), 'docs', 'integrate.md'), 'utf8');
const [, RECIPE = ''] =
  /^## `continue_url` of a UCP checkout\n[\s\S]*?```js\n([\s\S]*?)```/m.exec(PAGE) ?? [];

interface Answer {
  status: string;
  messages: Record<string, string>[];
  continue_url: string;
  expires_at: string;
}

/** A checkout of the Universal Commerce Protocol, as its shop has it before the buyer is handed over. */
const ORDER = {
  ucp: { version: '2026-08-25' },
  id: 'chk_42',
  status: 'incomplete',
  currency: 'USD',
  line_items: [{ id: 'li_1', item: { id: 'coffee', title: 'Coffee', price: 450 }, quantity: 1 }],
  totals: [{ type: 'total', amount: 450 }],
  links: [],
};

describe("the recipe for a UCP checkout's continue_url", () => {
  const checkout = forAllTests(openCheckout);
  let stripe: Stripe;
  before(async () => {
    stripe = sdk(checkout.merchant.testKey, checkout.app.port);
  });

  /** Runs the page's code. */
  async function handOver(order: typeof ORDER, total: number, attempt: number): Promise<Answer> {
    const parts = { checkout: stripe, order, total, attempt, Date };
    return await runInNewContext(`(async () => {\n${RECIPE}\nreturn answer;\n})()`, parts);
  }

  const linkOf = ({ continue_url }: Answer): string => continue_url.replace('https://pay.example/c/', '');
  const openOrder = (id: string): typeof ORDER => ({ ...ORDER, id });

  it('hands over with a status, a message and an end that the protocol knows, and the rest unchanged', async () => {
    const answer = await handOver(ORDER, 450, 1);
    const { expiresAt, ...session } = await checkout.session(linkOf(answer));
    assert.deepEqual([session.amountTotalCents, session.clientReferenceId], [450, 'chk_42']);
    assert.deepEqual(JSON.parse(JSON.stringify(answer)), {
      ...ORDER,
      status: 'requires_escalation',
      messages: [
        {
          type: 'error',
          code: 'stablecoin_payment',
          severity: 'requires_buyer_input',
          content: 'Pay the order with a stablecoin.',
        },
      ],
      continue_url: `https://pay.example/c/${session.id}`,
      expires_at: `${expiresAt.toISOString().slice(0, 19)}.000Z`,
    });
  });

  it('gives the same link when it is run again, and another for another attempt', async () => {
    const order = openOrder('chk_43');
    const first = await handOver(order, 450, 1);
    assert.equal((await handOver(order, 450, 1)).continue_url, first.continue_url);
    assert.notEqual((await handOver(order, 450, 2)).continue_url, first.continue_url);
  });

  it('opens a page for a person, outside of frames, and is paid by an agent', async () => {
    const order = openOrder('chk_44');
    const id = linkOf(await handOver(order, 450, 1));
    const page = await checkout.visit(id, { Accept: 'text/html' });
    assert.equal(page.status, 200);
    assert.match(page.text, /^<!doctype html>/i);
    assert.match(page.get('Content-Security-Policy') ?? '', /frame-ancestors 'none'/);

    assert.equal(answerOf(await checkout.pay(id)), '200 complete');
    const { body } = await client(checkout.app, checkout.merchant.testKey).get(
      `/v1/events?checkout_session=${id}`,
    );
    const [event] = body.data;
    assert.equal(event.type, 'checkout.session.completed');
    assert.equal(event.data.object.client_reference_id, order.id);
  });

  it('leaves no way to pay an old total: its session is expired first, unless it is paid', async () => {
    const order = openOrder('chk_45');
    const [old, paid] = [await handOver(order, 450, 1), await handOver(openOrder('chk_46'), 450, 1)];
    const { header } = await checkout.sign(linkOf(old));
    await stripe.checkout.sessions.expire(linkOf(old));
    const next = await handOver(order, 500, 2);
    assert.equal(
      answerOf(await checkout.visit(linkOf(old), { 'PAYMENT-SIGNATURE': header })),
      '410 session_expired',
    );
    assert.equal((await checkout.quote(linkOf(next))).accepts[0]?.amount, '5000000');

    await checkout.pay(linkOf(paid));
    const { statusCode } = await caught(stripe.checkout.sessions.expire(linkOf(paid)));
    assert.equal(statusCode, 400);
  });
});
