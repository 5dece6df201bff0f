import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { nowMs } from '../../../shared/process/clock.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';
import { minimal } from '../../support/orders.js';
import { testServices } from '../../support/suite.js';

const TOKEN = 'metrics-token-of-a-spec';

/** Environment of a process whose clock is off by `seconds`. */
function shifted(seconds: number): Record<string, string> {
  const shift = `const own=Date.now;Date.now=()=>own()+${seconds * 1000}`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}

describe("processes whose clocks differ from Postgres'", () => {
  const flow = forAllTests(() => openMoneyFlow('differing_clocks', { worker: false }));
  let environment: Record<string, string>;

  before(async () => {
    environment = {
      DATABASE_URL: flow.databaseUrl,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: flow.facilitator.url,
      RPC_URL_EIP155_84532: flow.chain.endpoint.url,
      BASE_URL: 'https://pay.example',
      METRICS_TOKEN: TOKEN,
      SETTLE_WAIT_MS: '20000',
    };
  });
  afterEach(killProcesses);

  const clockLines = (service: ServiceProcess): Record<string, unknown>[] =>
    service.lines().filter(({ event }) => String(event).startsWith('clock.'));

  for (const [web, worker] of [
    [60, -60],
    [-60, 60],
  ] as const) {
    it(`settle by the time of Postgres: web process ${web} s off, worker ${worker} s off`, async () => {
      const serving = await startWebProcess({ ...environment, ...shifted(web) });
      const settling = await startWorkerProcess({ ...environment, ...shifted(worker) });
      const { id } = await flow.buildSession();
      const { header } = await flow.sign(id);
      const startedAt = nowMs();
      const answer = await fetch(`http://127.0.0.1:${serving.port}/c/${id}`, {
        headers: { 'PAYMENT-SIGNATURE': header },
      });
      assert.equal(answer.status, 200);
      const { claimedAt, settledAt } = await flow.onlyPayment(id);
      // The search for the transfer begins at the claim, so its time is the earlier one of clocks that disagree.
      const times = [
        [claimedAt, startedAt + Math.min(0, web) * 1000],
        [settledAt ?? new Date(0), startedAt],
      ] as const;
      for (const [at, expected] of times)
        assert.ok(Math.abs(at.getTime() - expected) < 30_000, `${at.toISOString()} is another clock's time`);
      for (const [service, seconds] of [
        [serving, web],
        [settling, worker],
      ] as const) {
        await eventually(() => assert.equal(clockLines(service)[0]?.event, 'clock.off'));
        assert.equal(Math.round(Number(clockLines(service)[0]?.seconds)), -seconds);
      }
    });
  }

  it('create objects at the time of Postgres after a request that came before Postgres could be reached', async () => {
    const proxy = await TcpProxy.start(flow.databaseUrl);
    await proxy.refuse();
    const { port } = await startWebProcess({ ...environment, DATABASE_URL: proxy.url, ...shifted(600) });
    const create = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/v1/checkout/sessions`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${flow.merchant.testKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(minimal),
      });
    assert.equal((await create()).status, 503);
    await proxy.accept();
    await eventually(async () => {
      const answer = await create();
      assert.equal(answer.status, 200);
      const { created, expires_at } = JSON.parse(await answer.text());
      assert.ok(Math.abs(expires_at - created - 24 * 3600) < 60, `created ${created}, expires ${expires_at}`);
    });
    await proxy.refuse();
  });

  it('report the offset in /readyz and in the metrics, and go on serving', async () => {
    const { port } = await startWebProcess({ ...environment, ...shifted(60) });
    await eventually(async () => {
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
      const { status, clock } = JSON.parse(await ready.text());
      assert.deepEqual([ready.status, status, clock], [200, 'ready', 'off']);
    });
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
    assert.match(metrics, /^checkout_clock_offset_seconds -(59\.9|60)/m);
  });
});
