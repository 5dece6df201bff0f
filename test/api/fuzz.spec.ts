import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { paymentHeader, signEvmPayment, signSolanaPayment } from '../../lab/world/shop/agent.js';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildRevokedKey,
  buildSession,
} from '../../lab/world/shop/factories.js';
import { poolUse } from '../../shared/db/knex.js';
import { buildSigner, signToken } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { BUYER, findEntry, SOLANA_DEVNET } from '../support/checkout.js';
import { AnswerRules } from '../support/fuzz/answer-rules.js';
import { hostileMessages } from '../support/fuzz/hostile-messages.js';
import { type Hostile, hostileRequests, ID } from '../support/fuzz/hostile-requests.js';
import { type Json, MARK } from '../support/fuzz/hostile-values.js';
import { RawClient } from '../support/fuzz/raw-client.js';
import { decodeHeader } from '../support/link-answers.js';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 12_000);
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_101);
/** Requests at once. */
const AT_ONCE = 20;
/** Requests after which caches, compiled code and connection pools are full. */
const WARM_UP = 3000;
const MOST_GROWTH_BYTES = 24 * 1024 * 1024;
/** A template or a fixed word, without anything that a client sent. */
const ROUTE_LABEL = /,route="(unknown|(\/[a-z_.*]*|\/:[a-z]+|\/v1)*)",/;
const TABLES = [
  'checkout_sessions',
  'payments',
  'events',
  'webhook_deliveries',
  'webhook_endpoints',
  'api_keys',
];

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

describe('fuzzing', () => {
  it(`${REQUESTS} requests from seed ${SEED} (FUZZ_SEED): each response has a valid shape, and nothing leaks`, async function () {
    this.timeout(1_200_000);
    const facilitator = await startFacilitator();
    const complaints: string[] = [];
    const secrets: string[] = ['scrape-me', 'open sesame', 'whsec_'];
    const log = new Writable({
      write(chunk: Buffer, _encoding, done) {
        const line = chunk.toString('utf8');
        const isComplaint =
          /"level":"(warn|error|fatal)"/.test(line) ||
          [MARK, ...secrets].some((secret) => line.includes(secret));
        if (isComplaint) complaints.push(line);
        done();
      },
    });
    const settings = {
      FACILITATOR_URL: facilitator.url,
      RATE_LIMIT_API_PER_SECOND: '1000000',
      RATE_LIMIT_LINK_PER_MINUTE: '10000000',
      CHECK_TOKEN_ACCOUNTS: '',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      SETTLE_WAIT_MS: '0',
      METRICS_TOKEN: 'scrape-me',
      ADMIN_PASSWORD: 'open sesame',
      LOG_LEVEL: 'info',
    };
    const app = await openTestApp(settings, log);
    const { db, server } = app;
    const wire = new RawClient(app.port);

    const shop = await buildMerchant(db);
    const other = await buildMerchant(db);
    const revoked = await buildRevokedKey(db, shop.accountId);
    const token = signToken(await buildSigner(db, shop.accountId), {
      exp: Math.floor(Date.now() / 1000) + 3000,
    });
    secrets.push(shop.testKey, shop.liveKey, other.testKey, token, revoked);
    const open = await buildSession(db, shop.accountId);
    const paid = await buildPaidSession(db, shop.accountId);
    const ids = [
      open.id,
      (await buildSession(db, shop.accountId, { livemode: true })).id,
      (await buildSession(db, shop.accountId, { status: 'expired' })).id,
      paid.session.id,
      paid.payment.id,
      (await buildRefund(db, shop.accountId)).id,
      (await buildSession(db, other.accountId)).id,
    ];
    const credentials = [
      ...Array(14).fill(`Bearer ${shop.testKey}`),
      `Bearer ${shop.liveKey}`,
      `Basic ${Buffer.from(`${other.testKey}:`).toString('base64')}`,
      `Bearer ${revoked}`,
      `Bearer ${open.id}`,
      `Bearer ${token}`,
      `Bearer ${'x'.repeat(9000)}`,
      'Basic %%%',
      'Bearer svc_ck_test_\xff\xfe',
      '',
    ];
    const payments = await signedPayments();

    /** Valid payloads for links, as JSON. */
    async function signedPayments(): Promise<Json[]> {
      const offered = await wire.send(Buffer.from(`GET /c/${open.id} HTTP/1.1\r\nHost: x\r\n\r\n`), {
        hasBody: true,
      });
      const { accepts } = JSON.parse(offered.text);
      const evm = findEntry(accepts, 'eip155:84532');
      const solana = findEntry(accepts, SOLANA_DEVNET);
      const signed = await Promise.all(
        Array.from({ length: 8 }, async (_, i) =>
          i % 2 === 0
            ? paymentHeader(evm, await signEvmPayment(evm, { account: BUYER }))
            : paymentHeader(solana, signSolanaPayment(solana, { payer: Keypair.generate() })),
        ),
      );
      return signed.map((header) => decodeHeader(header) as Json);
    }

    function bytesOf({ method, path, id, key: which, headers, body: sent }: Hostile): Buffer {
      const known = ids[id % ids.length] ?? '';
      const body = sent?.includes(ID)
        ? Buffer.from(sent.toString('latin1').replaceAll(ID, known), 'latin1')
        : sent;
      const credential = credentials[which % credentials.length];
      const lines = [
        `${method} ${path.replaceAll(ID, known)} HTTP/1.1`,
        'Host: localhost',
        ...(credential ? [`Authorization: ${credential}`] : []),
        ...headers.map(([name, value]) => `${name}: ${value}`),
        ...(body === undefined ? [] : [`Content-Length: ${body.length}`]),
      ];
      return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
    }

    const rules = new AnswerRules(secrets);
    let sent = 0;
    async function tryOne(request: Hostile): Promise<void> {
      sent += 1;
      const bytes = bytesOf(request);
      const answer = await wire.send(bytes, { hasBody: request.method !== 'HEAD' });
      try {
        rules.check(request, answer);
      } catch (error) {
        const report = `${bytes.toString('latin1').slice(0, 3000)}\n\n${answer.status} ${answer.text.slice(0, 2000)}`;
        throw new Error(`${error instanceof Error ? error.message : error}\n${report}`);
      }
      const made = rules.madeBy(request, answer);
      if (made !== undefined) ids[ids.length < 60 ? ids.length : 6 + (sent % 54)] = made;
    }

    async function run(requests: number, seed: number): Promise<void> {
      const either = fc.oneof(
        { weight: 9, arbitrary: hostileRequests(payments) },
        { weight: 1, arbitrary: hostileMessages() },
      );
      const batch = fc.array(either, { minLength: AT_ONCE, maxLength: AT_ONCE });
      const property = fc.asyncProperty(batch, async (some) => {
        await Promise.all(some.map(tryOne));
      });
      // A failure is not shrunk, since the state of the service has changed. It reports one request, not its whole batch.
      const result = await fc.check(property, { seed, numRuns: requests / AT_ONCE, endOnFailure: true });
      if (result.failed) throw result.errorInstance;
    }

    const rowsOf = async (): Promise<Record<string, number>> =>
      Object.fromEntries(
        await Promise.all(
          TABLES.map(async (table) => {
            const { rows } = await db.raw('SELECT count(*)::int AS count FROM ??', [table]);
            return [table, rows[0].count];
          }),
        ),
      );
    const heap = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

    try {
      const before = await rowsOf();
      await run(WARM_UP, SEED + 1);
      const heapBefore = heap();
      const timersBefore = timers();
      await run(REQUESTS - WARM_UP, SEED);
      const grown = heap() - heapBefore;
      rules.requireAllSeen();
      assert.deepEqual(complaints, []);
      assert.equal(Reflect.get({}, 'polluted'), undefined);
      assert.ok(grown < MOST_GROWTH_BYTES, `the heap grew by ${Math.round(grown / 1024)} KiB`);
      assert.ok(timers() <= timersBefore + 20, `${timers()} timers`);
      const after = await rowsOf();
      const written = Object.fromEntries(
        TABLES.map((table) => [table, (after[table] ?? 0) - (before[table] ?? 0)]),
      );
      assert.deepEqual(written, { ...rules.made, webhook_deliveries: written.webhook_deliveries });
      // The page also has the metrics of workers that other specs started on this database.
      const series = (await app.metrics.read()).match(/^checkout_http_request_seconds_count\{.*$/gm) ?? [];
      assert.ok(series.length > 100 && series.length < 400, `${series.length} series`);
      assert.deepEqual(
        series.filter((line) => !ROUTE_LABEL.test(line)),
        [],
      );
      wire.close();
      await eventually(async () => {
        assert.equal(poolUse(db).used, 0);
        assert.equal(
          await new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
          0,
        );
      });
      process.stdout.write(
        `      ${sent} requests, ${rules.summary()}; heap ${Math.round(grown / 1024)} KiB\n`,
      );
    } finally {
      wire.close();
      await db('payments').where({ accountId: shop.accountId }).update({ stage: null, dueAt: null });
      await app.close();
      await facilitator.close();
    }
  });
});
