import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { buildEndpoints, buildMerchant } from '../../lab/world/shop/factories.js';
import { IdempotencyRecord } from '../../shared/accounts/model.js';
import { WebhookEndpoint } from '../../shared/webhooks/model.js';
import { client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

const KEY = 'order-7';
const LATER_REQUESTS = 20;

describe('a client that disconnects while its body is read', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));

  it('changes nothing and leaves its Idempotency-Key free', async () => {
    const [endpointId = assert.fail()] = await buildEndpoints(app.db, shop.accountId, 1);
    const path = `/v1/webhook_endpoints/${endpointId}`;
    const body = JSON.stringify({ disabled: true });
    const socket = connect(app.port, '127.0.0.1');
    await once(socket, 'connect');
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${shop.testKey}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `Idempotency-Key: ${KEY}`,
    ];
    // The body and the FIN together: the FIN is read while the key is looked up.
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    assert.equal(await text(socket), '');
    const api = client(app, shop.testKey);
    // Any effect has finished when later requests have been served for a while.
    for (let served = 0; served < LATER_REQUESTS; served += 1) await api.get(path).expect(200);
    assert.deepEqual(
      await IdempotencyRecord.query(app.db).where({ accountId: shop.accountId, key: KEY }),
      [],
    );
    const statusOf = async (): Promise<string> =>
      (await WebhookEndpoint.query(app.db).findById(endpointId).throwIfNotFound()).status;
    assert.equal(await statusOf(), 'enabled');

    await api.post(path, { disabled: true }).set('Idempotency-Key', KEY).expect(200);
    assert.equal(await statusOf(), 'disabled');
  });
});
