import assert from 'node:assert/strict';
import { mock } from 'node:test';
import request, { type Response } from 'supertest';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { assertRefusal, client } from '../../support/api-client.js';
import { type Checkout, openCheckout } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import { minimal, SESSIONS } from '../../support/orders.js';
import { createMigratedDatabase } from '../../support/suite.js';

const TOKEN = 'metrics-token-of-a-spec';

describe('while Postgres is away or takes no writes', () => {
  let proxy: TcpProxy;
  let checkout: Checkout;
  let name: string;
  before(async () => {
    const databaseUrl = await createMigratedDatabase('database_away');
    name = new URL(databaseUrl).pathname.slice(1);
    proxy = await TcpProxy.start(databaseUrl);
    const environment = { DATABASE_URL: proxy.url, METRICS_TOKEN: TOKEN };
    checkout = await openCheckout({ worker: false, environment });
  });
  after(async () => {
    await proxy.accept();
    await checkout.close();
    await proxy.refuse();
  });

  afterEach(() => mock.restoreAll());

  const create = async (key?: string): Promise<Response> =>
    await client(checkout.app, checkout.merchant.testKey)
      .post(SESSIONS, minimal)
      .set(key === undefined ? {} : { 'Idempotency-Key': key });
  const list = async (): Promise<Response> =>
    await client(checkout.app, checkout.merchant.testKey).get(SESSIONS);

  /** The answers with this status that the metrics page counts. */
  async function answered(status: 500 | 503): Promise<number> {
    const page = await request(checkout.app.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
    const pattern = new RegExp(
      `^checkout_http_request_seconds_count\\{[^}]*status="${status}"[^}]*\\} (\\d+)$`,
      'gm',
    );
    return [...page.text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** The events of the error lines that requests write from now on. */
  function errorEvents(): unknown[] {
    const events: unknown[] = [];
    mock.method(checkout.app.logger, 'error', (line: { event: string }) => events.push(line.event));
    return events;
  }

  async function makeReadOnly(how: 'on' | 'off'): Promise<void> {
    await checkout.app.db.raw('SET default_transaction_read_only = off');
    await checkout.app.db.raw(`ALTER DATABASE ${name} SET default_transaction_read_only = ${how}`);
    proxy.cut();
  }

  const served = (): Promise<void> => eventually(async () => assert.equal((await create()).status, 200));

  it('answers 503 to writes while it is read-only, reads what it can, and stores nothing', async () => {
    const { id } = await checkout.buildSession();
    const { header } = await checkout.sign(id);
    const [unavailable, failed] = [await answered(503), await answered(500)];
    const events = errorEvents();
    await makeReadOnly('on');
    try {
      await eventually(async () => assertRefusal(await create('read-only'), 503, 'service_unavailable'));
      await eventually(async () => assert.equal((await list()).status, 200));
      const refused = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(answerOf(refused), '503 payment_service_unavailable');
      assert.match(refused.get('Retry-After') ?? '', /^[1-9]\d*$/);
    } finally {
      await makeReadOnly('off');
    }
    await served();
    assert.ok((await answered(503)) > unavailable);
    assert.equal(await answered(500), failed);
    assert.deepEqual(new Set(events), new Set(['database.away']));
    // The same key, and the same signature, work now.
    assert.equal((await create('read-only')).get('Idempotent-Replayed'), undefined);
    assert.equal(checkout.facilitator.calls.settle.length, 0);
    await checkout.startWorker({ DATABASE_URL: proxy.url });
    assert.equal(answerOf(await checkout.visit(id, { 'PAYMENT-SIGNATURE': header })), '200 complete');
  });

  it('answers 503 while its disk is full', async () => {
    const { db } = checkout.app;
    await db.raw(`
      CREATE FUNCTION raise_disk_full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`);
    await db.raw(`
      CREATE TRIGGER raise_disk_full BEFORE INSERT ON payables
      FOR EACH ROW EXECUTE FUNCTION raise_disk_full()`);
    try {
      const refused = await create();
      assertRefusal(refused, 503, 'service_unavailable');
      assert.doesNotMatch(refused.text, /extend|payables/);
    } finally {
      await db.raw('DROP FUNCTION raise_disk_full CASCADE');
    }
    await served();
  });

  it('answers 503 to every request while it cannot be reached', async () => {
    const { id } = await checkout.buildSession();
    await proxy.refuse();
    try {
      assertRefusal(await create(), 503, 'service_unavailable');
      assertRefusal(await list(), 503, 'service_unavailable');
      assertRefusal(
        await client(checkout.app, `svc_ck_test_${'x'.repeat(40)}`).get(SESSIONS),
        503,
        'service_unavailable',
      );
      assert.equal(answerOf(await checkout.visit(id)), '503 payment_service_unavailable');
    } finally {
      await proxy.accept();
    }
    await served();
  });

  it('keeps 500 for what it does not understand', async () => {
    const { db } = checkout.app;
    const events = errorEvents();
    await db.raw('ALTER TABLE payables ADD CONSTRAINT never CHECK (false) NOT VALID');
    try {
      assertRefusal(await create(), 500, 'internal_error');
    } finally {
      await db.raw('ALTER TABLE payables DROP CONSTRAINT never');
    }
    assert.deepEqual(events, ['request.failed']);
  });
});
