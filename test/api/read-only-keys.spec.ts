import assert from 'node:assert/strict';
import { MERCHANT_TOOLS } from '../../api/mcp/tools.js';
import { buildEndpoints, buildKey, buildSession } from '../../lab/world/shop/factories.js';
import { type NewApiKey, revokeApiKey } from '../../shared/accounts/api-keys.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { sha256 } from '../../shared/secrets/secrets.js';
import {
  assertRefusal,
  assertUnauthenticated,
  type Client,
  client,
  schemaValidator,
} from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { connectAgent } from '../support/mcp.js';
import { ENDPOINTS, minimal, SESSIONS } from '../support/orders.js';
import { readPage } from '../support/pages.js';
import { buildShop } from '../support/shop.js';
import { sdk } from '../support/stripe-sdk.js';

describe('a read-only key', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildShop(app));
  let reader: NewApiKey;
  let api: Client;
  before(async () => {
    reader = await newReader();
    api = client(app, reader.secret);
  });

  const newReader = (): Promise<NewApiKey> => buildKey(app.db, shop.accountId, { access: 'read' });

  it('reads everything that a key with full access reads', async () => {
    const { id } = await buildSession(app.db, shop.accountId);
    const lists = [SESSIONS, '/v1/payments', '/v1/refunds', '/v1/events', ENDPOINTS];
    for (const path of [...lists, `${SESSIONS}/${id}`, `${SESSIONS}/${id}/line_items`]) {
      const { body } = await api.get(path).expect(200);
      assert.deepEqual(body, (await shop.test.get(path).expect(200)).body, path);
      await api.send('head', path).expect(200);
    }
  });

  it('is refused for every other method, before anything is done', async () => {
    const { id } = await buildSession(app.db, shop.accountId);
    const [hook] = await buildEndpoints(app.db, shop.accountId, 1);
    const writes = [
      () => api.post(SESSIONS, minimal),
      () => api.post(SESSIONS, minimal).set('Idempotency-Key', 'reader'),
      () => api.post(SESSIONS, '{'),
      () => api.post(`${SESSIONS}/${id}/expire`),
      () => api.post('/v1/refunds', {}),
      () => api.post(ENDPOINTS, { url: 'https://127.0.0.1/' }),
      () => api.post(`${ENDPOINTS}/${hook}`, { disabled: true }),
      () => api.post(`${ENDPOINTS}/${hook}/roll_secret`),
      () => api.delete(`${ENDPOINTS}/${hook}`),
      () => api.delete(`/v1/keys/${reader.key.id}`),
      () => api.post('/v1/nothing'),
      () => api.send('put', SESSIONS),
      () => api.send('options', SESSIONS),
    ];
    for (const write of writes) assertRefusal(await write(), 403, 'key_read_only');
    const { status } = await CheckoutSession.query(app.db).findById(id).throwIfNotFound();
    assert.equal(status, 'open');
    await shop.test.post(SESSIONS, minimal).set('Idempotency-Key', 'reader').expect(200);
    await api.get('/v1/keys').expect(200);
  });

  it('is told to the stock SDK as an error that it does not retry', async () => {
    const made = sdk(reader.secret, app.port).checkout.sessions.create({ mode: 'payment', line_items: [] });
    await assert.rejects(made, { statusCode: 403, code: 'key_read_only' });
  });

  it('calls the MCP tools that read, and no other', async () => {
    const agent = await connectAgent(app.port, reader.secret);
    const { body } = await agent.call('list_checkout_sessions');
    assert.equal(body.object, 'list');
    for (const { name, effect } of MERCHANT_TOOLS) {
      const { body: answer } = await agent.call(name, {});
      assert.equal(answer.error?.code === 'key_read_only', effect !== 'reads', name);
    }
    await agent.close();
  });

  it('is listed with its access, as every key', async () => {
    const { data } = await readPage(shop.test, '/v1/keys');
    const found = data.find(({ id }) => id === reader.key.id);
    assert.equal(found?.access, 'read');
    assert.deepEqual(
      data.filter(({ id }) => id !== reader.key.id).map(({ access }) => access),
      ['full'],
    );
    const validate = schemaValidator('#/components/schemas/ApiKey');
    assert.ok(validate(found), JSON.stringify(validate.errors));
  });

  it('gets 401 once it is revoked, also where it would be refused', async () => {
    const { key, secret } = await newReader();
    const revoked = client(app, secret);
    await revoked.get(SESSIONS).expect(200);
    await revokeApiKey(app.db, key.id);
    assertUnauthenticated(await revoked.post(SESSIONS, minimal), 'api_key_revoked');
    assertUnauthenticated(await revoked.get(SESSIONS), 'api_key_revoked');
  });

  it('is not found by code that looks for the hash of the secret alone', async () => {
    const found = await app.db('apiKeys').where({ secretSha256: sha256(reader.secret) });
    assert.deepEqual(found, []);
  });
});
