import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Response, Test } from 'supertest';
import { nowMs, returnToPresent, travelMs } from '../../shared/clock.js';
import type { Knex } from '../../shared/db/knex.js';
import { newId, sessionPrefix } from '../../shared/ids.js';
import { ApiKey } from '../../shared/models/api-key.js';
import { CheckoutSession } from '../../shared/models/checkout-session.js';
import { Event } from '../../shared/models/event.js';
import { IdempotencyRecord } from '../../shared/models/idempotency-record.js';
import { WebhookEndpoint } from '../../shared/models/webhook-endpoint.js';
import { updateAccount } from '../../shared/services/access/accounts.js';
import { createApiKey, revokeApiKey } from '../../shared/services/access/api-keys.js';
import { KEPT_FOR_MS } from '../../shared/services/access/idempotency.js';
import {
  assertInvalid,
  assertMissing,
  assertRefusal,
  assertUnauthenticated,
  type Client,
  client,
  formText,
} from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { buildMerchant, buildSession, EVM_WALLET, type Merchant } from '../support/factories.js';

const SESSIONS = '/v1/checkout/sessions';
const ENDPOINTS = '/v1/webhook_endpoints';
const MINUTE_MS = 60_000;
const ENDPOINT_LIMIT = 1000;

const coffee = { price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } };
const minimal = { line_items: [coffee] };
const hooks = { url: 'https://shop.example/hooks' };
const PRIVATE = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };

describe('Idempotency-Key', () => {
  let app: TestApp;
  let shop: Merchant;
  let api: Client;
  before(async () => {
    app = await openTestApp(PRIVATE);
  });
  after(() => app.close());
  beforeEach(async () => {
    shop = await buildMerchant(app.db);
    api = client(app, shop.testKey);
  });
  afterEach(() => returnToPresent());

  const keyed = (test: Test, key = 'order-7'): Test => test.set('Idempotency-Key', key);
  const create = (body: object = minimal, key?: string): Test => keyed(api.post(SESSIONS, body), key);

  async function sessions(): Promise<CheckoutSession[]> {
    return await CheckoutSession.query(app.db).where({ accountId: shop.accountId }).orderBy('id');
  }
  async function records(): Promise<IdempotencyRecord[]> {
    return await IdempotencyRecord.query(app.db).where({ accountId: shop.accountId });
  }

  function assertReplay(again: Response, first: Response): void {
    assert.equal(first.status, 200, first.text);
    assert.equal(first.get('Idempotent-Replayed'), undefined);
    assert.equal(again.status, 200, again.text);
    assert.equal(again.text, first.text);
    assert.equal(again.get('Idempotent-Replayed'), 'true');
    assert.notEqual(again.get('Request-Id'), first.get('Request-Id'));
  }

  function assertReused(res: Response): void {
    assertRefusal(res, 400, { type: 'idempotency_error', code: 'idempotency_key_reused' });
    assert.equal(res.get('Idempotent-Replayed'), undefined);
  }

  /** Of many answers to one request: all the same, and one of them the first. */
  function assertOneFirst(answers: Response[]): void {
    for (const res of answers) assert.equal(res.status, 200, res.text);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const replayed = answers.filter((res) => res.get('Idempotent-Replayed') === 'true');
    assert.equal(replayed.length, answers.length - 1);
  }

  function atOnce(count: number, send: (index: number) => Test): Promise<Response[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  }

  describe('of 50 simultaneous creates', () => {
    it('makes one session and 50 equal answers', async () => {
      assertOneFirst(await atOnce(50, () => create()));
      assert.equal((await sessions()).length, 1);
    });

    it('makes one over both encodings', async () => {
      assertOneFirst(await atOnce(50, (i) => (i % 2 === 0 ? create() : keyed(api.form(SESSIONS, minimal)))));
      assert.equal((await sessions()).length, 1);
    });

    for (const size of ['1', '2']) {
      it(`makes one with a pool of ${size}`, async () => {
        const narrow = await openTestApp({ ...PRIVATE, DATABASE_POOL_SIZE: size });
        try {
          const mine = client(narrow, shop.testKey);
          assertOneFirst(await atOnce(50, () => keyed(mine.post(SESSIONS, minimal))));
          assert.equal((await sessions()).length, 1);
          assertOneFirst(await atOnce(50, () => keyed(mine.post(ENDPOINTS, hooks), 'hooks')));
          const [{ id } = assert.fail()] = await sessions();
          assertOneFirst(await atOnce(50, () => keyed(mine.post(`${SESSIONS}/${id}/expire`), 'expire')));
        } finally {
          await narrow.close();
        }
      });
    }

    it('makes one over two processes', async () => {
      const other = await openTestApp(PRIVATE);
      try {
        const clients = [api, client(other, shop.testKey)];
        const send = (i: number): Test => keyed((clients[i % 2] ?? api).post(SESSIONS, minimal));
        assertOneFirst(await atOnce(50, send));
        assert.equal((await sessions()).length, 1);
      } finally {
        await other.close();
      }
    });

    it('makes one of each key', async () => {
      const answers = await atOnce(50, (i) => create(minimal, `key-${i % 10}`));
      for (let k = 0; k < 10; k++) assertOneFirst(answers.filter((_, i) => i % 10 === k));
      assert.equal((await sessions()).length, 10);
    });

    it('makes one again when the key has turned 24 hours old', async () => {
      travelMs(-KEPT_FOR_MS - MINUTE_MS);
      const old = await create();
      returnToPresent();
      const answers = await atOnce(50, () => create());
      assertOneFirst(answers);
      assert.notEqual(answers[0]?.body.id, old.body.id);
      assert.equal((await sessions()).length, 2);
    });
  });

  it('of 50 simultaneous expires makes one event', async () => {
    const { id } = await buildSession(app.db, shop.accountId);
    assertOneFirst(await atOnce(50, () => keyed(api.post(`${SESSIONS}/${id}/expire`))));
    assert.equal(await Event.query(app.db).where({ checkoutSessionId: id }).resultSize(), 1);
  });

  it('of 50 simultaneous webhook creates makes one endpoint with one secret', async () => {
    assertOneFirst(await atOnce(50, () => keyed(api.post(ENDPOINTS, hooks))));
    const rows = await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId });
    assert.equal(rows.length, 1);
  });

  it('of 50 simultaneous webhook updates changes once', async () => {
    const { body } = await api.post(ENDPOINTS, hooks);
    assertOneFirst(
      await atOnce(50, () => keyed(api.post(`${ENDPOINTS}/${body.id}`, { description: 'Same' }))),
    );
  });

  describe('replays', () => {
    it('whatever has become of the session, with a Request-Id of its own', async () => {
      const first = await create();
      const expired = await api.post(`${SESSIONS}/${first.body.id}/expire`).expect(200);
      assert.equal(expired.body.status, 'expired');
      const again = await create();
      assertReplay(again, first);
      assert.equal(again.body.status, 'open');
    });

    it('a create whose expires_at is too near by now', async () => {
      travelMs(-60 * MINUTE_MS);
      const body = { ...minimal, expires_at: Math.floor(nowMs() / 1000) + 31 * 60 };
      const first = await create(body);
      returnToPresent();
      assertReplay(await create(body), first);
      assertInvalid(await create(body, 'another'), 'parameter_invalid_integer', 'expires_at');
    });

    it('an expire of a session that is expired, by itself and by others', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const first = await keyed(api.post(`${SESSIONS}/${id}/expire`));
      assertReplay(await keyed(api.post(`${SESSIONS}/${id}/expire`)), first);
      assertInvalid(
        await keyed(api.post(`${SESSIONS}/${id}/expire`), 'b'),
        'checkout_session_not_open',
        'id',
      );
      assert.equal(await Event.query(app.db).where({ checkoutSessionId: id }).resultSize(), 1);
    });

    it('a webhook create with its secret, which neither row holds in the clear', async () => {
      const first = await keyed(api.post(ENDPOINTS, hooks));
      const { id, secret } = first.body;
      const [record] = await records();
      const row = await WebhookEndpoint.query(app.db).findById(id).throwIfNotFound();
      for (const column of [record?.answer ?? '', row.sealedSecret]) {
        for (const form of [secret, secret.slice('whsec_'.length), Buffer.from(secret).toString('hex')]) {
          assert.ok(!column.includes(form));
        }
      }
      assert.equal(record?.sealed, true);
      const all = await app.db.raw('SELECT r::text AS text FROM idempotency_records r WHERE account_id = ?', [
        shop.accountId,
      ]);
      assert.doesNotMatch(all.rows[0].text, /whsec_/);
      await api.delete(`${ENDPOINTS}/${id}`).expect(200);
      assertReplay(await keyed(api.post(ENDPOINTS, hooks)), first);
    });

    it('a webhook create that was sealed with the key before the last', async () => {
      const [older, newer] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];
      const before = await openTestApp({ ...PRIVATE, ENCRYPTION_KEY: older });
      const after = await openTestApp({ ...PRIVATE, ENCRYPTION_KEY: `${newer},${older}` });
      try {
        const first = await keyed(client(before, shop.testKey).post(ENDPOINTS, hooks));
        assertReplay(await keyed(client(after, shop.testKey).post(ENDPOINTS, hooks)), first);
      } finally {
        await before.close();
        await after.close();
      }
    });

    it('an account that has lost its wallets meanwhile', async () => {
      const first = await create();
      await updateAccount(app.db, shop.accountId, { evmWallet: null, solanaWallet: null });
      assertReplay(await create(), first);
      assertInvalid(await create(minimal, 'another'), 'payout_wallet_missing');
    });

    it('an account that has reached its limit of webhook endpoints meanwhile', async () => {
      const first = await keyed(api.post(ENDPOINTS, hooks));
      const { id: _, ...like } = await WebhookEndpoint.query(app.db)
        .findById(first.body.id)
        .throwIfNotFound();
      const others = Array.from({ length: ENDPOINT_LIMIT - 1 }, () => ({ ...like, id: newId('we_') }));
      await WebhookEndpoint.query(app.db).insert(others);
      assertReplay(await keyed(api.post(ENDPOINTS, hooks)), first);
      assertInvalid(await keyed(api.post(ENDPOINTS, hooks), 'another'), 'webhook_endpoint_limit');
    });

    it('a webhook whose host is refused meanwhile', async () => {
      const strict = await openTestApp();
      try {
        const body = { url: 'https://127.0.0.1/hooks' };
        const first = await keyed(api.post(ENDPOINTS, body));
        const again = client(strict, shop.testKey);
        assertReplay(await keyed(again.post(ENDPOINTS, body)), first);
        assertInvalid(await keyed(again.post(ENDPOINTS, body), 'another'), 'url_invalid', 'url');
      } finally {
        await strict.close();
      }
    });

    it('an update of an endpoint that is deleted by now', async () => {
      const { id } = (await api.post(ENDPOINTS, hooks)).body;
      const first = await keyed(api.post(`${ENDPOINTS}/${id}`, { disabled: true }));
      await api.delete(`${ENDPOINTS}/${id}`).expect(200);
      assertReplay(await keyed(api.post(`${ENDPOINTS}/${id}`, { disabled: true })), first);
      assertMissing(await keyed(api.post(`${ENDPOINTS}/${id}`, { disabled: true }), 'another'));
    });

    it('to another key of the same account and mode', async () => {
      const first = await create();
      const { secret } = await createApiKey(app.db, {
        accountId: shop.accountId,
        livemode: false,
        name: 'Second',
      });
      assertReplay(await keyed(client(app, secret).post(SESSIONS, minimal)), first);
    });

    it('for 24 hours, then the key is free for something else', async () => {
      travelMs(-KEPT_FOR_MS + MINUTE_MS);
      const first = await create(minimal, 'young');
      travelMs(-2 * MINUTE_MS);
      const old = await create(minimal, 'old');
      await create(minimal, 'older');
      returnToPresent();
      assertReplay(await create(minimal, 'young'), first);

      const other = { ...minimal, client_reference_id: 'other' };
      const next = await create(other, 'old');
      assert.equal(next.status, 200, next.text);
      assert.notEqual(next.body.id, old.body.id);
      assertReplay(await create(other, 'old'), next);
      assertReused(await create(minimal, 'old'));

      const endpoint = await keyed(api.post(ENDPOINTS, hooks), 'older');
      assertReplay(await keyed(api.post(ENDPOINTS, hooks), 'older'), endpoint);
    });
  });

  describe('is not replayed to a key that was revoked', () => {
    for (const [name, seen] of [
      ['that this process has seen', true],
      ['that this process has not seen', false],
    ] as const) {
      it(name, async () => {
        const first = await create();
        const key = { accountId: shop.accountId, livemode: false, name: 'Second' };
        const second = await createApiKey(app.db, key);
        const revoked = client(app, second.secret);
        if (seen) assertReplay(await keyed(revoked.post(SESSIONS, minimal)), first);
        await revokeApiKey(app.db, second.key.id);
        assertUnauthenticated(await keyed(revoked.post(SESSIONS, minimal)), 'api_key_revoked');
        assertReplay(await create(), first);
      });
    }

    const others: [what: string, send: (revoked: Client, id: string) => Test][] = [
      ['expire', (revoked, id) => revoked.post(`${SESSIONS}/${id}/expire`)],
      ['webhook create', (revoked) => revoked.post(ENDPOINTS, hooks)],
    ];
    for (const [what, send] of others) {
      it(`on ${what}`, async () => {
        const { id } = await buildSession(app.db, shop.accountId);
        const first = await keyed(send(api, id));
        assertReplay(await keyed(send(api, id)), first);
        const key = await ApiKey.query(app.db).findOne({ accountId: shop.accountId, livemode: false });
        await revokeApiKey(app.db, key?.id ?? '');
        assertUnauthenticated(await keyed(send(api, id)), 'api_key_revoked');
      });
    }
  });

  describe('takes for the same body', () => {
    const rich = {
      mode: 'payment',
      line_items: [
        {
          price_data: {
            currency: 'usd',
            unit_amount: 1999,
            product_data: { name: 'Träume 🥐', images: ['https://img.example/a.png'] },
          },
          quantity: 3,
        },
      ],
      metadata: { a: '1', b: '2' },
      client_reference_id: 'order 7',
      expand: ['line_items'],
    };
    const [item = assert.fail()] = rich.line_items;

    const same: [why: string, send: () => Test][] = [
      ['the other encoding', () => api.form(SESSIONS, rich)],
      [
        'another order of keys',
        () =>
          api.post(SESSIONS, {
            ...Object.fromEntries(Object.entries(rich).reverse()),
            metadata: { b: '2', a: '1' },
          }),
      ],
      [
        'another order of pairs in a form',
        () => api.form(SESSIONS, formText(rich).split('&').reverse().join('&')),
      ],
      [
        'null for what is absent',
        () => api.post(SESSIONS, { ...rich, customer_email: null, expires_at: null }),
      ],
      ["'' for what is absent", () => api.post(SESSIONS, { ...rich, customer_email: '', success_url: '' })],
      [
        "'' and null deep inside",
        () =>
          api.post(SESSIONS, {
            ...rich,
            line_items: [
              {
                ...item,
                price_data: {
                  ...item.price_data,
                  unit_amount_decimal: '',
                  product_data: { ...item.price_data.product_data, description: null },
                },
              },
            ],
            metadata: { ...rich.metadata, c: '', d: null },
          }),
      ],
      ["'' in a form", () => api.form(SESSIONS, `${formText(rich)}&customer_email=&metadata[c]=`)],
      ['another array index', () => api.form(SESSIONS, formText(rich).replaceAll('items[0]', 'items[7]'))],
      ['a[] for a[0]', () => api.form(SESSIONS, formText(rich).replaceAll('[images][0]', '[images][]'))],
      ['a= for a[0]=', () => api.form(SESSIONS, formText(rich).replace('expand[0]', 'expand'))],
      [
        'brackets that are percent-encoded',
        () => api.form(SESSIONS, formText(rich).replaceAll('[', '%5B').replaceAll(']', '%5D')),
      ],
      ['+ for %20', () => api.form(SESSIONS, formText(rich).replaceAll('%20', '+'))],
      ['white space in JSON', () => api.post(SESSIONS, JSON.stringify(rich, null, 4))],
      ['escapes in JSON', () => api.post(SESSIONS, JSON.stringify(rich).replace('Träume', 'Tr\\u00e4ume'))],
      ['1999.0', () => api.post(SESSIONS, JSON.stringify(rich).replace('1999', '1999.0'))],
      ['1.999e3', () => api.post(SESSIONS, JSON.stringify(rich).replace('1999', '1.999e3'))],
      ['USD', () => api.post(SESSIONS, JSON.stringify(rich).replace('"usd"', '"USD"'))],
      [
        'a charset in the content type',
        () => api.post(SESSIONS, rich).set('Content-Type', 'application/json; charset=utf-8'),
      ],
      ['another version header', () => api.post(SESSIONS, rich).set('Stripe-Version', '2019-01-01')],
    ];
    for (const [why, send] of same) {
      it(why, async () => {
        const first = await create(rich);
        assertReplay(await keyed(send()), first);
        assert.equal((await sessions()).length, 1);
      });
    }

    it('a compressed one', async () => {
      const first = await create(rich);
      const test = api.send('post', SESSIONS).type('json').set('Content-Encoding', 'gzip');
      test.serialize((bytes) => bytes).send(gzipSync(JSON.stringify(rich)));
      assertReplay(await keyed(test), first);
    });

    it('empty objects and arrays for absent ones, which a form cannot send', async () => {
      const first = await create({ ...minimal, metadata: {}, expand: [], payment_method_types: [] });
      assertReplay(await create(minimal), first);
      assertReplay(await keyed(api.form(SESSIONS, minimal)), first);
    });

    it('no body, {} and an empty form, on expire', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const path = `${SESSIONS}/${id}/expire`;
      const first = await keyed(api.post(path));
      assertReplay(await keyed(api.post(path, {})), first);
      assertReplay(await keyed(api.form(path, '')), first);
    });

    const other: [why: string, body: object][] = [
      ['a changed value', { ...rich, client_reference_id: 'order 8' }],
      ['white space in a value', { ...rich, client_reference_id: 'order 7 ' }],
      ['an added parameter', { ...rich, customer_email: 'buyer@mail.example' }],
      ['a missing parameter', { ...rich, client_reference_id: null }],
      ['a default that is spelled out', { ...rich, payment_method_types: ['crypto'] }],
      ['another quantity', { ...rich, line_items: [{ ...item, quantity: 4 }] }],
      ['another item', { ...rich, line_items: [item, item] }],
      ['another metadata value', { ...rich, metadata: { a: '1', b: '3' } }],
      ['another metadata key', { ...rich, metadata: { a: '1', B: '2' } }],
      ['swapped metadata values', { ...rich, metadata: { a: '2', b: '1' } }],
      ['no expand', { ...rich, expand: [] }],
    ];
    for (const [why, body] of other) {
      it(`not ${why}`, async () => {
        await create(rich).expect(200);
        assertReused(await create(body));
        assertReused(await keyed(api.form(SESSIONS, body)));
        assert.equal((await sessions()).length, 1);
      });
    }

    it('not items in another order', async () => {
      const tea = { price_data: { unit_amount: 300, product_data: { name: 'Tea' } } };
      await create({ line_items: [coffee, tea] }).expect(200);
      assertReused(await create({ line_items: [tea, coffee] }));
    });

    it('not a metadata value that moves between keys of odd names', async () => {
      const metadata = (name: string): string =>
        `{"line_items":${JSON.stringify(minimal.line_items)},"metadata":{"${name}":"v","x":"w"}}`;
      await keyed(api.post(SESSIONS, metadata('__proto__'))).expect(200);
      for (const name of ['constructor', '0', '']) {
        assertReused(await keyed(api.post(SESSIONS, metadata(name))));
      }
      assert.equal(
        (await keyed(api.post(SESSIONS, metadata('__proto__')))).get('Idempotent-Replayed'),
        'true',
      );
    });

    it('not a cleared parameter of an update for one that is absent', async () => {
      const { id } = (await api.post(ENDPOINTS, { ...hooks, description: 'Old' })).body;
      const cleared = await keyed(api.post(`${ENDPOINTS}/${id}`, { description: null }));
      assert.equal(cleared.body.description, null);
      assertReplay(await keyed(api.post(`${ENDPOINTS}/${id}`, { description: '' })), cleared);
      assertReplay(await keyed(api.form(`${ENDPOINTS}/${id}`, 'description=')), cleared);
      assertReused(await keyed(api.post(`${ENDPOINTS}/${id}`, {})));
    });
  });

  describe('belongs to', () => {
    it('one path: everywhere else it is idempotency_key_reused, also where the path itself is refused', async () => {
      await create().expect(200);
      const [a, b] = [await buildSession(app.db, shop.accountId), await buildSession(app.db, shop.accountId)];
      assertReused(await keyed(api.post(ENDPOINTS, hooks)));
      assertReused(await keyed(api.post(`${SESSIONS}/${a.id}/expire`)));
      assertReused(await keyed(api.post(`${SESSIONS}/cs_test_nothing/expire`)));
      await keyed(api.post(`${SESSIONS}/${a.id}/expire`), 'expire').expect(200);
      assertReused(await keyed(api.post(`${SESSIONS}/${b.id}/expire`), 'expire'));
      const states = await CheckoutSession.query(app.db).findByIds([a.id, b.id]).orderBy('id');
      assert.deepEqual(
        states.map(({ status }) => status),
        ['expired', 'open'],
      );
      assert.equal(await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId }).resultSize(), 0);
    });

    it('one account and one mode', async () => {
      const stranger = await buildMerchant(app.db);
      const ids = new Set<string>();
      for (const key of [shop.testKey, shop.liveKey, stranger.testKey, stranger.liveKey]) {
        const mine = client(app, key);
        const first = await keyed(mine.post(SESSIONS, minimal));
        assertReplay(await keyed(mine.post(SESSIONS, minimal)), first);
        ids.add(first.body.id);
      }
      assert.equal(ids.size, 4);
    });

    it('one spelling: case and every character count', async () => {
      const keys = ['a', 'A', 'a b', "a'b", 'a"b', 'a\\b', 'a;--', 'é', 'Ã©', '%61', 'ÿ'];
      const ids = new Set<string>();
      for (const key of keys) {
        const first = await create(minimal, key);
        assertReplay(await create(minimal, key), first);
        ids.add(first.body.id);
      }
      assert.equal(ids.size, keys.length);
    });
  });

  describe('may be used again after', () => {
    const nothingKept = async (): Promise<void> => assert.deepEqual(await records(), []);

    it('a 400, with a corrected body', async () => {
      assertInvalid(await create({}), 'parameter_missing', 'line_items');
      const total = { ...coffee, quantity: 999_999 };
      const tooMuch = {
        line_items: Array.from({ length: 100 }, () => ({
          ...total,
          price_data: { ...coffee.price_data, unit_amount: 99_999_999 },
        })),
      };
      assertInvalid(await create(tooMuch), 'amount_too_large', 'line_items');
      assertInvalid(await keyed(api.post(SESSIONS, '{')), 'malformed_body');
      assertInvalid(await create({ ...minimal, expires_at: 1 }), 'parameter_invalid_integer', 'expires_at');
      await nothingKept();
      assert.deepEqual(await sessions(), []);
      const first = await create();
      assertReplay(await create(), first);
      assert.equal((await sessions()).length, 1);
    });

    it('payout_wallet_missing, with the same body, once there is a wallet', async () => {
      await updateAccount(app.db, shop.accountId, { evmWallet: null, solanaWallet: null });
      assertInvalid(await create(), 'payout_wallet_missing');
      await nothingKept();
      await updateAccount(app.db, shop.accountId, { evmWallet: EVM_WALLET });
      const first = await create();
      assertReplay(await create(), first);
    });

    it('checkout_session_not_open, once the session is open again', async () => {
      const session = await buildSession(app.db, shop.accountId, {
        status: 'processing',
        paymentId: 'pay_1',
      });
      const path = `${SESSIONS}/${session.id}/expire`;
      assertInvalid(await keyed(api.post(path)), 'checkout_session_not_open', 'id');
      await nothingKept();
      await CheckoutSession.query(app.db)
        .patch({ status: 'open', paymentId: null })
        .where({ id: session.id });
      const first = await keyed(api.post(path));
      assert.equal(first.body.status, 'expired');
      assertReplay(await keyed(api.post(path)), first);
    });

    it('a 404', async () => {
      assertMissing(await keyed(api.post(`${SESSIONS}/${newId(sessionPrefix(false))}/expire`)));
      await nothingKept();
      await create().expect(200);
    });

    it('a 401', async () => {
      const wrong = client(app, `svc_ck_test_${'x'.repeat(40)}`);
      assertUnauthenticated(await keyed(wrong.post(SESSIONS, minimal)), 'api_key_invalid');
      await nothingKept();
      await create().expect(200);
    });

    it('a 429', async () => {
      const slow = await openTestApp({ RATE_LIMIT_API_PER_SECOND: '1' });
      try {
        const mine = client(slow, shop.testKey);
        const answers = await atOnce(10, (i) => keyed(mine.post(SESSIONS, minimal), `slow-${i}`));
        const refused = answers.findIndex(({ status }) => status === 429);
        assert.notEqual(refused, -1);
        const kept = await records();
        assert.equal(kept.length, answers.filter(({ status }) => status === 200).length);
        const first = await create(minimal, `slow-${refused}`);
        assertReplay(await create(minimal, `slow-${refused}`), first);
      } finally {
        await slow.close();
      }
    });

    it('a 500, which changed nothing', async () => {
      const { db } = app;
      await db.raw(`
        CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
      try {
        for (const table of ['checkout_sessions', 'events', 'webhook_endpoints']) {
          await db.raw(`
            CREATE CONSTRAINT TRIGGER refuse_commit AFTER INSERT ON ${table}
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commit()`);
        }
        const failed = { type: 'api_error', code: 'internal_error' } as const;
        assertRefusal(await create(), 500, failed);
        assertRefusal(await keyed(api.post(ENDPOINTS, hooks), 'hooks'), 500, failed);
        await nothingKept();
      } finally {
        await db.raw('DROP FUNCTION refuse_commit CASCADE');
      }
      assert.deepEqual(await sessions(), []);
      const first = await create();
      assertReplay(await create(), first);
      const endpoint = await keyed(api.post(ENDPOINTS, hooks), 'hooks');
      assertReplay(await keyed(api.post(ENDPOINTS, hooks), 'hooks'), endpoint);
      assert.equal((await sessions()).length, 1);
    });
  });

  describe('when two different requests race with it', () => {
    it('takes one create and refuses the other, of which nothing is left', async () => {
      for (let round = 0; round < 20; round++) {
        const key = `race-${round}`;
        const bodies = ['a', 'b'].map((ref) => ({ ...minimal, client_reference_id: `${ref}-${round}` }));
        const answers = await Promise.all(bodies.map((body) => create(body, key)));
        const winner = answers.findIndex(({ status }) => status === 200);
        assert.notEqual(winner, -1);
        assertReused(answers[1 - winner] ?? assert.fail());
        const rows = await CheckoutSession.query(app.db)
          .where({ accountId: shop.accountId })
          .where('clientReferenceId', 'like', `_-${round}`);
        assert.deepEqual(
          rows.map(({ id }) => id),
          [answers[winner]?.body.id],
        );
      }
    });

    it('takes one path and refuses the other, of which nothing is left', async () => {
      for (let round = 0; round < 20; round++) {
        const key = `paths-${round}`;
        const [session, endpoint] = await Promise.all([
          create(minimal, key),
          keyed(api.post(ENDPOINTS, hooks), key),
        ]);
        const made = session.status === 200 ? 1 : 0;
        assertReused(made === 1 ? endpoint : session);
        const counts = [
          await CheckoutSession.query(app.db).where({ accountId: shop.accountId }).resultSize(),
          await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId }).resultSize(),
        ];
        assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), round + 1);
      }
    });

    /** Another process uses the key first and has not committed yet: whatever came meanwhile has to wait for it. */
    async function whileKeyIsTaken(
      key: string,
      meanwhile: () => Test,
    ): Promise<{ answer: Response; waited: boolean }> {
      const trx = await app.db.transaction();
      await IdempotencyRecord.query(trx).insert({
        accountId: shop.accountId,
        livemode: false,
        key,
        path: '/v1/elsewhere',
        fingerprint: Buffer.alloc(32),
        answer: '{}',
        sealed: false,
        createdAt: new Date(nowMs()),
      });
      let answered = false;
      const answer = Promise.resolve(meanwhile()).finally(() => {
        answered = true;
      });
      await untilSomeoneWaitsFor(trx);
      const waited = !answered;
      await trx.commit();
      return { answer: await answer, waited };
    }

    async function untilSomeoneWaitsFor(trx: Knex.Transaction): Promise<void> {
      await eventually(async () => {
        const { rows } = await trx.raw(
          'SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))',
        );
        assert.equal(rows.length, 1, 'nobody waits for the key');
      });
    }

    it('undoes an expire that comes second: the session is open and there is no event', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const { answer, waited } = await whileKeyIsTaken('taken', () =>
        keyed(api.post(`${SESSIONS}/${id}/expire`), 'taken'),
      );
      assert.ok(waited);
      assertReused(answer);
      assert.equal((await CheckoutSession.query(app.db).findById(id))?.status, 'open');
      assert.equal(await Event.query(app.db).where({ checkoutSessionId: id }).resultSize(), 0);
    });

    it('undoes a create, a webhook create and an update that come second', async () => {
      const { id } = (await api.post(ENDPOINTS, hooks)).body;
      const sends: (() => Test)[] = [
        () => create(minimal, 'taken-0'),
        () => keyed(api.post(ENDPOINTS, hooks), 'taken-1'),
        () => keyed(api.post(`${ENDPOINTS}/${id}`, { disabled: true }), 'taken-2'),
      ];
      for (const [i, send] of sends.entries()) {
        const { answer, waited } = await whileKeyIsTaken(`taken-${i}`, send);
        assert.ok(waited);
        assertReused(answer);
      }
      assert.deepEqual(await sessions(), []);
      const endpoints = await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId });
      assert.deepEqual(
        endpoints.map((endpoint) => [endpoint.id, endpoint.status]),
        [[id, 'enabled']],
      );
    });
  });

  describe('of 255 characters is taken and of 256 refused', () => {
    const paths: [path: string, body: object][] = [
      [SESSIONS, minimal],
      [ENDPOINTS, hooks],
    ];
    for (const [path, body] of paths) {
      it(`on ${path}`, async () => {
        const first = await keyed(api.post(path, body), 'k'.repeat(255));
        assertReplay(await keyed(api.post(path, body), 'k'.repeat(255)), first);
        const refused = await keyed(api.post(path, body), 'k'.repeat(256));
        assertRefusal(refused, 400, { type: 'idempotency_error', code: 'idempotency_key_invalid' });
        assert.equal((await records()).length, 1);
      });
    }

    it('on expire, where a refused one changes nothing', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const refused = await keyed(api.post(`${SESSIONS}/${id}/expire`), 'k'.repeat(256));
      assertRefusal(refused, 400, { type: 'idempotency_error', code: 'idempotency_key_invalid' });
      assert.equal((await CheckoutSession.query(app.db).findById(id))?.status, 'open');
    });
  });

  it('is ignored by GET, HEAD and DELETE, whatever it is', async () => {
    const first = await create();
    const endpoint = (await api.post(ENDPOINTS, hooks)).body;
    for (const key of ['order-7', 'k'.repeat(300)]) {
      const got = await keyed(api.get(`${SESSIONS}/${first.body.id}`), key);
      assert.equal(got.status, 200);
      assert.equal(got.get('Idempotent-Replayed'), undefined);
      assert.equal((await keyed(api.get(SESSIONS), key)).status, 200);
      assert.equal((await keyed(api.send('head', SESSIONS), key)).status, 200);
    }
    const deleted = await keyed(api.delete(`${ENDPOINTS}/${endpoint.id}`), 'order-7');
    assert.equal(deleted.status, 200);
    assertMissing(await keyed(api.delete(`${ENDPOINTS}/${endpoint.id}`), 'order-7'));
    assertReplay(await create(), first);
    assert.equal((await records()).length, 1);
  });
});
