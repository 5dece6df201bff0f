import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWebProcess,
  startWorkerProcess,
  type WebServiceProcess,
} from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { nowMs } from '../../../shared/process/clock.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';
import { minimal } from '../../support/orders.js';

const TOKEN = 'metrics-token-of-a-spec';

/** Environment of a process whose clock is off by `seconds`. */
function shifted(seconds: number): Record<string, string> {
  const shift = `const own=Date.now;Date.now=()=>own()+${seconds * 1000}`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}

describe("processes whose clocks differ from Postgres'", () => {
  const flow = forAllTests(() => openMoneyFlow('differing_clocks', { worker: false }));
  afterEach(killProcesses);

  const clockLines = (service: ServiceProcess): Record<string, unknown>[] =>
    service.lines().filter(({ event }) => String(event).startsWith('clock.'));

  const ask = (
    web: WebServiceProcess,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Response> => fetch(`http://127.0.0.1:${web.port}${path}`, { headers });

  for (const [web, worker] of [
    [60, -60],
    [-60, 60],
  ] as const) {
    it(`settle by the time of Postgres, and say so: web process ${web} s off, worker ${worker} s off`, async () => {
      const serving = await startWebProcess({
        ...flow.settings,
        METRICS_TOKEN: TOKEN,
        SETTLE_WAIT_MS: '20000',
        ...shifted(web),
      });
      const settling = await startWorkerProcess({ ...flow.settings, ...shifted(worker) });
      const { id } = await flow.buildSession();
      const { header } = await flow.sign(id);
      const startedAt = nowMs();
      const answer = await ask(serving, `/c/${id}`, { 'PAYMENT-SIGNATURE': header });
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
      const ready = await ask(serving, '/readyz');
      const { status, clock } = JSON.parse(await ready.text());
      assert.deepEqual([ready.status, status, clock], [200, 'ready', 'off']);
      const metrics = await (await ask(serving, '/metrics', { Authorization: `Bearer ${TOKEN}` })).text();
      const [, offset] = /^checkout_clock_offset_seconds (\S+)$/m.exec(metrics) ?? [];
      assert.equal(Math.round(Number(offset)), -web);
    });
  }

  it('create objects at the time of Postgres after a request that came before Postgres could be reached', async () => {
    const proxy = await TcpProxy.start(flow.databaseUrl);
    await proxy.refuse();
    const { port } = await startWebProcess({ ...flow.settings, DATABASE_URL: proxy.url, ...shifted(600) });
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
});
