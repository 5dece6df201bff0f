import assert from 'node:assert/strict';
import { buildMerchant, buildPaidSession } from '../../lab/world/shop/factories.js';
import { newId, sessionPrefix } from '../../shared/values/ids.js';
import { assertMissing, type Client, client, type Method } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

const SESSIONS = '/v1/checkout/sessions';
const ENDPOINTS = '/v1/webhook_endpoints';
const order = { line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }] };
const endpoint = { url: 'https://1.1.1.1/hooks' };

describe('authentication', () => {
  const app = forAllTests(openTestApp);

  describe('shows a key only the objects of its own account and mode', () => {
    /** One account in one mode, with an object of each kind. */
    interface Owner {
      name: string;
      account: string;
      livemode: boolean;
      api: Client;
      session: string;
      lineItem: string;
      payment: string;
      paidSession: string;
      endpoint: string;
    }
    const owners: Owner[] = [];

    before(async () => {
      for (const account of ['A', 'B']) {
        const merchant = await buildMerchant(app.db);
        for (const livemode of [true, false]) {
          const api = client(app, livemode ? merchant.liveKey : merchant.testKey);
          const session = await api.post(SESSIONS, { ...order, expand: ['line_items'] }).expect(200);
          const paid = await buildPaidSession(app.db, merchant.accountId, { livemode });
          owners.push({
            name: `${account} ${livemode ? 'live' : 'test'}`,
            account,
            livemode,
            api,
            session: session.body.id,
            lineItem: session.body.line_items.data[0].id,
            payment: paid.payment.id,
            paidSession: paid.session.id,
            endpoint: (await api.post(ENDPOINTS, endpoint).expect(200)).body.id,
          });
        }
      }
    });

    /** Every way to name an object; each changes the object for its owner. */
    const ways: [
      what: string,
      method: Method,
      path: (owner: Owner) => string,
      param: string,
      body?: object,
    ][] = [
      ['retrieving a session', 'get', ({ session }) => `${SESSIONS}/${session}`, 'id'],
      ['retrieving a paid session', 'get', ({ paidSession }) => `${SESSIONS}/${paidSession}`, 'id'],
      ['listing line items', 'get', ({ session }) => `${SESSIONS}/${session}/line_items`, 'id'],
      ['retrieving a webhook endpoint', 'get', (owner) => `${ENDPOINTS}/${owner.endpoint}`, 'id'],
      ...['starting_after', 'ending_before'].flatMap((param): typeof ways => [
        [`${param} a session`, 'get', ({ session }) => `${SESSIONS}?${param}=${session}`, param],
        [`${param} a payment`, 'get', ({ payment }) => `/v1/payments?${param}=${payment}`, param],
        [`${param} a webhook endpoint`, 'get', (owner) => `${ENDPOINTS}?${param}=${owner.endpoint}`, param],
      ]),
      [
        'changing a webhook endpoint',
        'post',
        (owner) => `${ENDPOINTS}/${owner.endpoint}`,
        'id',
        { disabled: true },
      ],
      ['deleting a webhook endpoint', 'delete', (owner) => `${ENDPOINTS}/${owner.endpoint}`, 'id'],
      ['expiring a session', 'post', ({ session }) => `${SESSIONS}/${session}/expire`, 'id'],
    ];

    it('in lists', async () => {
      for (const { api, session, paidSession, payment, endpoint: ownEndpoint, livemode } of owners) {
        const lists: [path: string, ids: string[]][] = [
          [SESSIONS, [paidSession, session]],
          [`${SESSIONS}?status=open`, [session]],
          [`${SESSIONS}?created[gte]=0`, [paidSession, session]],
          ['/v1/payments', [payment]],
          [ENDPOINTS, [ownEndpoint]],
        ];
        for (const [path, ids] of lists) {
          const { data } = (await api.get(path).expect(200)).body;
          assert.deepEqual(
            data.map(({ id }: { id: string }) => id),
            ids,
            path,
          );
          for (const object of data) assert.equal(object.livemode, livemode);
        }
      }
    });

    for (const [what, method, path, param, body] of ways) {
      it(`${what}: 404 for others, then 200 for its owner`, async () => {
        for (const owner of owners) {
          for (const other of owners) {
            if (other === owner) continue;
            const res = await other.api.send(method, path(owner), body);
            assert.equal(res.status, 404, `${other.name} on ${owner.name}: ${res.text}`);
            assertMissing(res, param);
          }
          const own = await owner.api.send(method, path(owner), body);
          assert.equal(own.status, 200, `${owner.name}: ${own.text}`);
        }
      });
    }

    it('line items: the cursor of another session is 404', async () => {
      for (const { api, session, paidSession, lineItem } of owners) {
        await api.get(`${SESSIONS}/${session}/line_items?starting_after=${lineItem}`).expect(200);
        for (const param of ['starting_after', 'ending_before']) {
          assertMissing(await api.get(`${SESSIONS}/${paidSession}/line_items?${param}=${lineItem}`), param);
        }
      }
    });

    it('says that an id exists in the other mode to its own account only', async () => {
      for (const owner of owners) {
        for (const other of owners.filter(({ account }) => account !== owner.account)) {
          const nobodys = newId(sessionPrefix(owner.livemode));
          const messages = [];
          for (const id of [owner.session, nobodys]) {
            const { body } = await other.api.get(`${SESSIONS}/${id}`).expect(404);
            messages.push(body.error.message.replace(id, '…'));
          }
          assert.equal(messages[0], messages[1]);
        }
      }
    });

    it('idempotency keys: the same key creates one session for each account and mode', async () => {
      const ids = new Set<string>();
      for (const { api } of owners) {
        const res = await api.post(SESSIONS, order).set('Idempotency-Key', 'shared by chance').expect(200);
        assert.equal(res.get('Idempotent-Replayed'), undefined);
        ids.add(res.body.id);
      }
      assert.equal(ids.size, owners.length);
    });
  });
});
