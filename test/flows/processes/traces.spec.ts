import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { startReceiver } from '../../../lab/world/receiver/receiver.js';
import {
  startCollector,
  startSilentCollector,
  type TakenSpan,
} from '../../../lab/world/receiver/trace-collector.js';
import { client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';
import { minimal } from '../../support/orders.js';

const EMAIL = `${randomUUID()}@buyers.example`;
/** A loader hook that makes every import of these packages fail. */
const REFUSE_PACKAGES = `export async function resolve(name, context, next) {
  if (/^@opentelemetry\\/|open-telemetry/.test(name)) throw new Error('loaded: ' + name);
  return next(name, context);
}`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const WITHOUT_PACKAGES = `--import=${asUrl(
  `import { register } from 'node:module'; register(${JSON.stringify(asUrl(REFUSE_PACKAGES))});`,
)}`;

describe('traces', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('traces', {
      worker: false,
      environment: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' },
    }),
  );
  const receiver = forAllTests(startReceiver);
  const environment = () => ({
    ...flow.settings,
    RPC_URL_EIP155_84532: `${flow.chain.endpoint.url}?key=rpc-secret`,
    CONFIRMATIONS_EIP155_84532: '1',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  });
  afterEach(killProcesses);

  async function stop(...processes: ServiceProcess[]): Promise<void> {
    for (const one of processes) assert.deepEqual(await one.stop(), { code: 0, signal: null }, one.output());
  }

  describe('of a payment', () => {
    const collector = forAllTests(startCollector);
    let session: string;
    let secrets: string[];
    let trace: TakenSpan[];
    before(async () => {
      const api = client(flow.app, flow.merchant.testKey);
      const { body: hook } = await api.post('/v1/webhook_endpoints', { url: receiver.url }).expect(200);
      const asked = { ...minimal, customer_email: EMAIL, metadata: { note: 'a note of the merchant' } };
      session = (await api.post('/v1/checkout/sessions', asked).expect(200)).body.id;
      const signed = await flow.sign(session);
      secrets = [
        EMAIL,
        'a note of the merchant',
        'rpc-secret',
        flow.merchant.testKey,
        hook.secret,
        receiver.url,
        signed.header,
        signed.payload.signature,
        signed.payload.authorization.nonce,
      ];
      const traced = { ...environment(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      const web = await startWebProcess(traced);
      const worker = await startWorkerProcess(traced);
      const at = `http://127.0.0.1:${web.port}`;
      const paid = await fetch(`${at}/c/${session}`, {
        headers: {
          'PAYMENT-SIGNATURE': signed.header,
          traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
        },
      });
      assert.equal(paid.status, 200, await paid.text());
      await fetch(`${at}/v1/checkout/sessions/${session}`, {
        headers: { Authorization: `Bearer ${flow.merchant.testKey}` },
      });
      await fetch(`${at}/healthz`);
      await eventually(() => assert.equal(receiver.got.length, 1));
      // A process sends its remaining spans when it stops.
      await stop(web, worker);
      const first = collector.spans.find(({ attributes }) => attributes['checkout.session'] === session);
      trace = collector.spans.filter((span) => span.trace === first?.trace);
    });

    const named = (name: string): TakenSpan =>
      trace.find((span) => span.name === name) ?? assert.fail(`${name} is not in the trace`);

    it('are one trace, from the request through the jobs to the webhook, in both processes', () => {
      const request = named('GET /c/:id');
      assert.deepEqual([request.parent, request.service], ['', 'checkout-web']);
      assert.equal(request.attributes['http.response.status_code'], 200);
      assert.equal(request.attributes['http.route'], '/c/:id');
      const jobs = ['settle-payment', 'confirm-payment', 'deliver-webhook'].map(named);
      for (const job of jobs) assert.deepEqual([job.parent, job.service], [request.id, 'checkout-worker']);
      for (const job of jobs.slice(1)) assert.equal(job.attributes['checkout.session'], session);
    });

    it('contain the calls to the facilitator and to the chain, each within its parent', () => {
      assert.equal(named('POST /verify').parent, named('GET /c/:id').id);
      assert.equal(named('POST /settle').parent, named('settle-payment').id);
      const { host } = new URL(flow.facilitator.url);
      for (const call of ['POST /verify', 'POST /settle'])
        assert.equal(named(call).attributes['checkout.facilitator'], host);
      assert.equal(named('eth_getBlockByNumber').parent, named('confirm-payment').id);
      assert.equal(named('eth_getBlockByNumber').attributes['checkout.network'], 'eip155:84532');
      const failed = trace.filter((span) => span.failed);
      assert.deepEqual(
        failed.map(({ name, attributes }) => [name, attributes]),
        [],
      );
    });

    it("are named by route, ignore the caller's trace id, and leave out health checks", () => {
      assert.ok(collector.spans.some(({ name }) => name === 'GET /v1/checkout/sessions/:id'));
      assert.ok(collector.spans.every(({ name }) => !name.includes('healthz')));
      assert.ok(collector.spans.every((span) => span.trace !== 'a'.repeat(32)));
    });

    it('contain no secret, no payload and no personal data', () => {
      assert.ok(collector.spans.length > 6);
      for (const secret of secrets) assert.ok(!collector.text().includes(secret), secret);
    });
  });

  it('delay neither requests nor the end of the process when the collector does not answer', async () => {
    const collector = await startSilentCollector();
    const web = await startWebProcess({ ...environment(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const { id } = await flow.buildSession();
    assert.equal((await fetch(`http://127.0.0.1:${web.port}/c/${id}`)).status, 402);
    await stop(web);
    assert.ok(web.lines().some(({ event }) => event === 'traces.not_sent_at_end'));
    await collector.close();
  });

  it('log once that the collector cannot be reached', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const web = await startWebProcess({ ...environment(), OTEL_EXPORTER_OTLP_ENDPOINT: url });
    const { id } = await flow.buildSession();
    const warnings = () => web.lines().filter(({ event }) => event === 'traces.not_arriving').length;
    await eventually(async () => {
      assert.equal((await fetch(`http://127.0.0.1:${web.port}/c/${id}`)).status, 402);
      assert.equal(warnings(), 1);
    });
    await stop(web);
    assert.equal(warnings(), 1);
  });

  it('load no package and store nothing while they are off', async () => {
    const bare = { ...environment(), NODE_OPTIONS: WITHOUT_PACKAGES };
    const web = await startWebProcess(bare);
    const worker = await startWorkerProcess(bare);
    const { id } = await flow.buildSession();
    const { header } = await flow.sign(id);
    const paid = await fetch(`http://127.0.0.1:${web.port}/c/${id}`, {
      headers: { 'PAYMENT-SIGNATURE': header },
    });
    assert.equal(paid.status, 200, await paid.text());
    assert.equal((await flow.onlyPayment(id)).trace, null);
    await stop(web, worker);
    // With traces on, the same loader hook makes the start fail.
    const traced = { ...bare, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    await assert.rejects(startWebProcess(traced), /loaded:/);
  });
});
