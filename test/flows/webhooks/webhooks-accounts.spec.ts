import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, startWorkerProcess } from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { answer } from '../../../lab/world/receiver/receiver.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { WebhookDelivery } from '../../../shared/webhooks/model.js';
import { LEASE_MS } from '../../../shared/webhooks/take-due.js';
import { type AccountSize, type BusyAccount, openBusyAccount } from '../../support/busy-account.js';
import { forAllTests } from '../../support/hooks.js';
import { testServices } from '../../support/suite.js';
import { openWebhookFlow, type WebhookFlow } from '../../support/webhook-flow.js';

/**
 * Delivery slots of a worker process at the default concurrency: in all, for one account, and for one host of an
 * account.
 */
const SLOTS = 400;
const OF_ONE_ACCOUNT = SLOTS / 2;
const OF_ONE_HOST = OF_ONE_ACCOUNT / 2;
const EVENTS = 5;
const LONGEST_FIRST_PAUSE_MS = 33_300;
/** A try that hangs gives its slot to the next one after this time. */
const TRY_MS = 10_000;

/** How many tries a slot can begin within the time since then: more on a busy machine. */
function triesOfSlot(since: number): number {
  return 1 + Math.ceil((performance.now() - since) / TRY_MS);
}

const ONE_HOST: AccountSize = { hosts: 1, endpointsPerHost: 100 };
const MANY_HOSTS: AccountSize = { hosts: 25, endpointsPerHost: 4 };

describe("one account's webhooks and the others'", () => {
  const redis = forAllTests(() => TcpProxy.start(testServices().redisUrl));
  const onRedis = forAllTests(() =>
    openWebhookFlow('webhooks_accounts', { worker: false, environment: { REDIS_URL: redis.url } }),
  );
  const onPostgres = forAllTests(() =>
    openWebhookFlow('webhooks_accounts_postgres', { worker: false, environment: { REDIS_URL: '' } }),
  );
  let flow: WebhookFlow;
  const opened: BusyAccount[] = [];
  beforeEach(() => {
    flow = onRedis;
  });
  afterEach(async () => {
    resetClock();
    await killProcesses();
    await Promise.all(opened.splice(0).map((busy) => busy.close()));
    await flow.startOver();
    await redis.accept();
  });

  async function addAccount(size: AccountSize): Promise<BusyAccount> {
    const busy = await openBusyAccount(flow.app, size);
    opened.push(busy);
    return busy;
  }

  /** Waits until this many of the account's tries hang, each in a slot. */
  async function untilHanging(busy: BusyAccount, tries: number): Promise<void> {
    await eventually(() => assert.ok(busy.got().length >= tries, `${busy.got().length} tries`));
  }

  const count = (where: Partial<WebhookDelivery>): Promise<number> =>
    WebhookDelivery.query(flow.db).where(where).resultSize();

  /**
   * Sends single events to another account while the busy one's tries hang: only few of those may begin in
   * between.
   */
  async function assertOvertaken(
    busy: Pick<BusyAccount, 'got'>,
    quiet: BusyAccount,
    leftToSweep = false,
  ): Promise<void> {
    quiet.react(answer(200));
    const before = busy.got().length;
    const since = performance.now();
    for (let n = 1; n <= EVENTS; n += 1) {
      const had = quiet.got().length;
      await quiet.sendEvents(1, { leftToSweep });
      await eventually(() => assert.equal(quiet.got().length, had + 1));
    }
    const begun = busy.got().length - before;
    assert.ok(begun <= triesOfSlot(since) * OF_ONE_ACCOUNT, `${begun} tries of the other account came first`);
  }

  it("an event without a notification overtakes another account's 1,000 endpoints that hang, found by the sweep", async () => {
    const busy = await addAccount({ hosts: 2, endpointsPerHost: 500 });
    const quiet = await addAccount({ hosts: 1, endpointsPerHost: 1 });
    await flow.startWorker();
    await busy.sendEvents(3, { leftToSweep: true });
    await untilHanging(busy, OF_ONE_HOST);
    await assertOvertaken(busy, quiet, true);
  });

  it("an event overtakes another account's 200 endpoints that hang, over two worker processes", async () => {
    const busy = await addAccount({ hosts: 25, endpointsPerHost: 8 });
    const quiet = await addAccount({ hosts: 1, endpointsPerHost: 1 });
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    await busy.sendEvents(20);
    await untilHanging(busy, OF_ONE_ACCOUNT);
    await assertOvertaken({ got: () => busy.got().slice(0, busy.got().length / 2) }, quiet);
  });

  for (const { size, most } of [
    { size: MANY_HOSTS, most: OF_ONE_ACCOUNT },
    { size: ONE_HOST, most: OF_ONE_HOST },
  ]) {
    it(`alone, an account with ${size.hosts} hosts gets ${most} slots at once`, async () => {
      const busy = await addAccount(size);
      await flow.startWorker();
      const since = performance.now();
      await busy.sendEvents(20);
      // Events are counted before the first tries have ended.
      await untilHanging(busy, most * 0.95);
      const rounds = triesOfSlot(since) - 1;
      assert.ok(busy.got().length <= rounds * most);
    });
  }

  it('one hanging host of an account leaves slots for its other hosts', async () => {
    const busy = await addAccount({ hosts: 2, endpointsPerHost: 50 });
    const [hanging, healthy] = busy.receivers;
    await flow.startWorker();
    healthy?.react(answer(200));
    const since = performance.now();
    await busy.sendEvents(20);
    await eventually(() => assert.equal(healthy?.got.length, 1000));
    assert.ok((hanging?.got.length ?? 0) <= triesOfSlot(since) * OF_ONE_HOST, `${hanging?.got.length} tries`);
  });

  it('several accounts whose webhooks hang share the slots, and leave slots for one more', async () => {
    const heavy: BusyAccount[] = [];
    for (let n = 0; n < 4; n += 1) heavy.push(await addAccount({ hosts: 4, endpointsPerHost: 25 }));
    const quiet = await addAccount({ hosts: 1, endpointsPerHost: 1 });
    await flow.startWorker();
    for (const busy of heavy) await busy.sendEvents(20);
    await eventually(() => {
      const begun = heavy.map((busy) => busy.got().length);
      assert.ok(Math.min(...begun) >= SLOTS / 20, `${begun}`);
    });
    await assertOvertaken({ got: () => heavy.flatMap((busy) => busy.got()) }, quiet);
  });

  it('the slots of a killed worker are free again, and no delivery is lost', async () => {
    const busy = await addAccount({ hosts: 10, endpointsPerHost: 5 });
    const quiet = await addAccount({ hosts: 1, endpointsPerHost: 1 });
    const killed = await startWorkerProcess(flow.settings);
    await busy.sendEvents(6);
    await untilHanging(busy, OF_ONE_HOST);
    await killed.kill();
    await flow.startWorker();
    await assertOvertaken(busy, quiet);
    busy.react(answer(200));
    // The killed worker's leases run out; every delivery has been tried once then.
    advanceClock(LEASE_MS + 1000);
    await eventually(async () => {
      assert.equal(await count({ status: 'pending', tries: 0 }), 0);
    });
    // Each delivery that failed is due again.
    advanceClock(LONGEST_FIRST_PAUSE_MS);
    await eventually(async () => {
      assert.equal(await count({ status: 'succeeded' }), 300 + EVENTS);
    });
  });

  for (const [store, size] of [
    ['Redis', MANY_HOSTS],
    ['Postgres', ONE_HOST],
    ['neither, as Redis is down', MANY_HOSTS],
  ] as const) {
    it(`an event overtakes another account's 100 endpoints of ${size.hosts} hosts that hang; queue in ${store}`, async () => {
      if (store === 'Postgres') flow = onPostgres;
      const [busy, quiet] = [await addAccount(size), await addAccount({ hosts: 1, endpointsPerHost: 1 })];
      await flow.startWorker();
      if (store === 'neither, as Redis is down') await redis.refuse();
      await busy.sendEvents(20);
      await untilHanging(busy, OF_ONE_HOST);
      await assertOvertaken(busy, quiet);
      const left = await WebhookDelivery.query(flow.db)
        .where('status', 'pending')
        .whereIn('endpointId', [...busy.endpointIds]);
      assert.equal(left.length, 2000, 'deliveries are missing');
    });
  }
});
