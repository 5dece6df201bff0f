import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import request from 'supertest';
import { startWeb } from '../../../api/process/start-web.js';
import { startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { startReceiver } from '../../../lab/world/receiver/receiver.js';
import { paymentHeader, signEvmPayment } from '../../../lab/world/shop/agent.js';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { paymentJob } from '../../../shared/settlement/payment-job.js';
import { startWorker } from '../../../workers/process/start-worker.js';
import { buildSigner, signToken } from '../../support/api-client.js';
import { BASE_SEPOLIA, BUYER } from '../../support/checkout.js';
import { SESSIONS } from '../../support/orders.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';

const LIFE = [
  SESSIONS,
  '/c/:id',
  // The first signature is refused.
  'payment.looked_up_before_refusal',
  'payment.claimed',
  'payment.settle_answered',
  'session.completed',
  'delivery.attempted',
];

describe('the logs of a web and a worker process at level trace', () => {
  it('have one line for each unit of work, and no secret', async () => {
    const text: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        text.push(String(chunk));
        done();
      },
    });
    const facilitator = await startFacilitator();
    const receiver = await startReceiver();
    // The processes have a database of their own, since due work of other spec files would be logged as well.
    const databaseUrl = await createMigratedDatabase('logs');
    const { redisUrl } = testServices();
    const environment = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      FACILITATOR_URL: facilitator.url,
      BASE_URL: 'https://pay.example',
      PORT: '0',
      RATE_LIMIT_LINK_PER_MINUTE: '1000000',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    };
    const logger = createLogger('trace', 'test', sink);
    const web = await startWeb(loadConfig(environment, 'web'), logger);
    const worker = await startWorker(loadConfig(environment, 'worker'), logger);
    const db = openDatabase(loadConfig(environment, 'migrate').database);
    const secrets: string[] = [];
    try {
      const merchant = await buildMerchant(db);
      const token = signToken(await buildSigner(db, merchant.accountId));
      const api = request(`http://127.0.0.1:${web.port}`);
      const key = { Authorization: `Bearer ${merchant.testKey}` };
      const email = 'buyer.of.things@example.com';
      secrets.push(
        merchant.testKey,
        token,
        email,
        'my-idempotency-key',
        'wrong-key-1234567890',
        'internal-note',
      );

      const endpoint = await api.post('/v1/webhook_endpoints').set(key).send({ url: receiver.url });
      const created = await api
        .post('/v1/checkout/sessions')
        .set({ ...key, 'Idempotency-Key': 'my-idempotency-key' })
        .send({
          line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }],
          customer_email: email,
          metadata: { note: 'internal-note' },
        });
      const signedUp = await api
        .post('/v1/keys')
        .set('Authorization', `Bearer ${token}`)
        .send({ livemode: false });
      secrets.push(endpoint.body.secret, signedUp.body.secret);
      await api.get('/v1/checkout/sessions').set('Authorization', 'Bearer wrong-key-1234567890');
      await api.post('/v1/checkout/sessions').set(key).send({ customer_email: email, line_items: 'none' });

      const { id } = created.body;
      const { body: quote } = await api.get(`/c/${id}`);
      const accepted = quote.accepts.find(({ network }: { network: string }) => network === BASE_SEPOLIA);
      const refused = await signEvmPayment(accepted, { account: BUYER });
      const good = await signEvmPayment(accepted, { account: BUYER });
      for (const payload of [refused, good]) {
        const header = paymentHeader(accepted, payload);
        if (payload === refused) facilitator.verify.next({ answer: () => refusal(payload.signature) });
        await api.get(`/c/${id}`).set('PAYMENT-SIGNATURE', header);
        secrets.push(header, payload.signature, payload.signature.slice(2), payload.authorization.nonce);
      }
      await eventually(() => assert.equal(receiver.got.length, 1));
      const delivered = receiver.got[0];
      secrets.push(
        String(delivered?.headers['service-signature']),
        String(delivered?.headers['webhook-signature']),
      );
      await eventually(() => assert.match(text.join(''), /delivery\.attempted/));
    } finally {
      await web.close();
      await worker.close();
      await facilitator.close();
      await receiver.close();
      await db.destroy();
    }
    const all = text.join('');
    const lines = all
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const secret of secrets) assert.ok(!all.includes(secret), `logged: ${secret}`);
    const counted = (event: string): number => lines.filter((line) => line.event === event).length;
    assert.equal(counted('request.finished'), 8);
    assert.equal(counted('payment.settle_answered'), 1);
    assert.equal(counted('delivery.attempted'), 1);
    const [claimed, settled] = ['payment.claimed', 'payment.settle_answered'].map((event) =>
      lines.find((line) => line.event === event),
    );
    assert.match(claimed?.request_id, /^req_/);
    const paying = lines.find(
      (line) => line.event === 'request.finished' && line.request_id === claimed.request_id,
    );
    assert.equal(paying?.status, 200);
    // The job carries the request's id, unless the sweep took the payment first; every later line carries the
    // payment's id.
    assert.equal(settled.request_id ?? claimed.request_id, claimed.request_id);
    assert.equal(settled.payment, claimed.payment);
    const { host } = new URL(facilitator.url);
    assert.deepEqual([claimed.facilitator, settled.facilitator], [host, host]);
    const due = { id: claimed.payment, stage: 'settle', attempt: 0, dueAt: new Date() } as const;
    const { payload } = paymentJob(due, claimed.request_id);
    assert.deepEqual(payload, { paymentId: claimed.payment, requestId: claimed.request_id });
    assert.equal(lines.filter(({ level }) => level === 'error').length, 0);
    for (const line of lines.filter(({ event }) => event === 'request.finished')) {
      assert.match(line.request_id, /^req_/);
      assert.ok(line.route.startsWith('/'), JSON.stringify(line));
      const namesSession = line.route.startsWith('/c/') || (line.route === SESSIONS && line.status === 200);
      assert.equal(line.session, namesSession ? claimed.session : undefined);
    }
    // One grep for the session's id finds the life of its payment.
    const life = all.split('\n').filter((line) => line.includes(claimed.session));
    const lived = life.map((line) => JSON.parse(line)).map(({ event, route }) => route ?? event);
    for (const step of new Set(lived)) assert.ok(LIFE.includes(step), step);
    assert.deepEqual([...new Set(lived)].sort(), [...LIFE].sort());
    assert.equal(lived[0], SESSIONS);
  });
});

/** A facilitator that puts the buyer's signature into its reason. */
function refusal(signature: string): { status: number; body: object } {
  return { status: 200, body: { isValid: false, invalidReason: `bad_${signature}`, payer: BUYER.address } };
}
