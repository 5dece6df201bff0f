import assert from 'node:assert/strict';
import request from 'supertest';
import { refuses } from '../../lab/world/facilitator/dial.js';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { LONG_ANSWER_BYTES_SENT, LONG_ANSWER_BYTES_SENT_TO_ADDRESS } from '../../shared/limits/bounds.js';
import { findLinkImage } from '../../shared/settlement/read-link.js';
import { newId } from '../../shared/values/ids.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { receiptOf } from '../support/link-answers.js';

const ITEMS = 100;
const IMAGES = 8;
/** Bytes of the few columns that a link shows, with the overhead of Postgres' protocol. */
const SMALL_BYTES = 8000;

/** The largest session a body can create: a hundred items with every field, and image URLs of full length. */
const heavyItems = Array.from({ length: ITEMS }, (_, item) => ({
  id: newId('li_'),
  name: `${item} `.padEnd(250, '"'),
  description: `${item} `.padEnd(500, '<'),
  images: Array.from({ length: IMAGES }, (_, image) =>
    `https://127.0.0.1:1/${item}/${image}/`.padEnd(2048, 'x'),
  ),
  unitAmountCents: 99_999_999,
  quantity: 999_999,
}));

describe('a link with a hundred items', () => {
  // A pool of one connection, so that its bytes can be counted.
  const checkout = forAllTests(() =>
    openCheckout({ worker: false, environment: { DATABASE_POOL_SIZE: '1' } }),
  );
  let heavy: CheckoutSession;

  before(async () => {
    heavy = await checkout.buildSession({ lineItems: heavyItems });
    await checkout.visit(heavy.id);
  });

  async function bytesFromPostgres(act: () => Promise<unknown>): Promise<number> {
    const client = await checkout.app.db.client.acquireConnection();
    const { stream } = client.connection;
    await checkout.app.db.client.releaseConnection(client);
    const before = stream.bytesRead;
    await act();
    return stream.bytesRead - before;
  }

  const get = (path: string, accept = 'application/json') =>
    request(checkout.app.server).get(path).set('Accept', accept);
  const post = (path: string, body: object) => request(checkout.app.server).post(path).send(body);

  it('is requested, polled, paid and asked for images without reading its items', async () => {
    const { header } = await checkout.sign(heavy.id);
    const link = `/c/${heavy.id}`;
    const small: Record<string, () => Promise<unknown>> = {
      'the 402': () => get(link).expect(402),
      'the status': () => get(`${link}/status`).expect(200),
      'a payment': () => get(link).set('PAYMENT-SIGNATURE', header).expect(402),
      'a payment of the page': () => post(`${link}/pay`, {}).set('PAYMENT-SIGNATURE', header).expect(200),
      'an image': () => get(`${link}/images/799`).expect(200),
      'no image': () => get(`${link}/images/800`).expect(404),
      'a transaction': () =>
        post(`${link}/transaction`, { payer: '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g' }).expect(200),
      'the balances': () => get(`${link}/balances?address=0x${'11'.repeat(20)}`).expect(200),
    };
    checkout.facilitator.verify.always(refuses('insufficient_funds'));
    for (const [what, act] of Object.entries(small)) {
      const bytes = await bytesFromPostgres(act);
      assert.ok(bytes < SMALL_BYTES, `${what}: ${bytes} bytes`);
    }
  });

  it('is described by its first item', async () => {
    const { resource } = await checkout.quote(heavy.id);
    assert.match(resource.description ?? '', / for 999999 x 0 "{65}… and 99 more, payable until /);
  });

  it('is described the same when a version without summaries wrote it', async () => {
    const { id } = await checkout.buildSession({ lineItems: heavyItems, summary: null });
    const { resource } = await checkout.quote(id);
    assert.match(resource.description ?? '', / for 999999 x 0 "{65}… and 99 more, payable until /);
    const bytes = await bytesFromPostgres(() => checkout.quote(id));
    assert.ok(bytes < SMALL_BYTES, `${bytes} bytes`);
    const none = await checkout.buildSession({ lineItems: [], summary: null });
    assert.match(
      (await checkout.quote(none.id)).resource.description ?? '',
      / to Cafe Pocket, payable until /,
    );
  });

  it('renders a page without the URLs of its images', async () => {
    let html = '';
    const bytes = await bytesFromPostgres(async () => {
      html = (await get(`/c/${heavy.id}`, 'text/html').expect(200)).text;
    });
    assert.ok(bytes < 150_000, `${bytes} bytes`);
    assert.equal(html.match(/<p class="name">/g)?.length, ITEMS);
    for (const first of [0, 8, 792]) assert.ok(html.includes(`/images/${first}"`), `${first}`);
    assert.ok(html.includes(`${99} ${'&quot;'.repeat(247)}</bdi>`));
  });

  it('is complete when it is paid, with and without a summary, long or short', async () => {
    for (const [lineItems, hasSummary] of [
      [heavyItems, true],
      [heavyItems, false],
      [heavyItems.slice(0, 1).map((item) => ({ ...item, images: [], description: null })), true],
    ] as const) {
      const { session } = await buildPaidSession(checkout.app.db, checkout.merchant.accountId);
      const own = { lineItems: [...lineItems] };
      await CheckoutSession.query(checkout.app.db)
        .patch({
          ...own,
          ...(!hasSummary && { summary: null }),
          ...(hasSummary && lineItems.length > 1 && { summary: heavy.summary ?? null }),
        })
        .findById(session.id);
      const { body } = await get(`/c/${session.id}`).expect(200);
      assert.deepEqual(
        body.session.line_items,
        lineItems.map((item) => ({
          name: item.name,
          description: item.description,
          images: item.images,
          unit_amount: item.unitAmountCents,
          quantity: item.quantity,
          amount_total: item.unitAmountCents * item.quantity,
        })),
      );
    }
  });

  it('finds images by their number across all items, for concurrent requests', async () => {
    const addresses = heavyItems.flatMap(({ images }) => images);
    const numbers = [0, 1, 7, 8, 15, 16, 400, 799];
    const { db } = checkout.app;
    const found = await Promise.all([
      ...numbers.map((number) => findLinkImage(db, { id: heavy.id, number })),
      findLinkImage(db, { id: heavy.id, number: 800 }),
      findLinkImage(db, { id: heavy.id, number: null }),
      findLinkImage(db, { id: newId('cs_test_'), number: 0 }),
    ]);
    const { accountId } = checkout.merchant;
    const expected = numbers.map((number) => ({ url: addresses[number], accountId }));
    assert.deepEqual(found, [...expected, undefined, undefined, undefined]);
  });
});

describe('long responses', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));

  it('are limited per address and per process, while short ones are sent', async () => {
    const { app, merchant } = checkout;
    const { session: paid } = await buildPaidSession(app.db, merchant.accountId);
    await CheckoutSession.query(app.db).patch({ lineItems: heavyItems, summary: null }).findById(paid.id);
    const open = await checkout.buildSession({ lineItems: heavyItems });
    const short = await checkout.buildSession();
    const get = (id: string, accept: string) => request(app.server).get(`/c/${id}`).set('Accept', accept);
    const long: [id: string, accept: string][] = [
      [paid.id, 'application/json'],
      [open.id, 'text/html'],
    ];
    const holders: [holder: string, bytes: number][] = [
      ['127.0.0.1', LONG_ANSWER_BYTES_SENT_TO_ADDRESS],
      ...Array.from(
        { length: LONG_ANSWER_BYTES_SENT / LONG_ANSWER_BYTES_SENT_TO_ADDRESS },
        (_, n): [string, number] => [`other ${n}`, LONG_ANSWER_BYTES_SENT_TO_ADDRESS],
      ),
    ];
    for (const held of [holders.slice(0, 1), holders.slice(1)]) {
      const releases = held.map(([holder, bytes]) => app.longAnswers.take(bytes, holder));
      for (const [id, accept] of long) {
        const res = await get(id, accept).expect(429);
        assert.equal(res.get('Retry-After'), '1');
      }
      await get(short.id, 'text/html').expect(200);
      await get(open.id, 'application/json').expect(402);
      for (const release of releases) release?.();
      for (const [id, accept] of long) await get(id, accept).expect(200);
    }
    // Nothing stays held.
    const release = app.longAnswers.take(LONG_ANSWER_BYTES_SENT_TO_ADDRESS, '127.0.0.1');
    assert.ok(release);
    release();
  });

  it('keep the status and the headers of a payment when the page cannot be sent', async () => {
    const { app, facilitator } = checkout;
    const worker = await checkout.startWorker();
    const { id } = await checkout.buildSession({ lineItems: heavyItems });
    const { header } = await checkout.sign(id);
    const release = app.longAnswers.take(LONG_ANSWER_BYTES_SENT_TO_ADDRESS, '127.0.0.1');
    const pay = () =>
      request(app.server).get(`/c/${id}`).set({ Accept: 'text/html', 'PAYMENT-SIGNATURE': header });
    facilitator.verify.next(refuses('insufficient_funds'));
    const refused = await pay();
    const paid = await pay();
    release?.();
    await worker.close();
    assert.deepEqual([refused.status, receiptOf(paid)?.success, paid.status], [402, true, 200]);
    for (const { type, text } of [refused, paid]) {
      assert.equal(type, 'text/html');
      assert.match(text, /^<!doctype html>/i);
    }
  });
});
