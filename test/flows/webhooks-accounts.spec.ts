import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../lab/world/processes/pause-points.js';
import { killProcesses, startWorkerProcess } from '../../lab/world/processes/processes.js';
import { answer } from '../../lab/world/receiver/receiver.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { LEASE_MS } from '../../shared/webhooks/event-types.js';
import { WebhookDelivery } from '../../shared/webhooks/model.js';
import { type Crowd, type CrowdSize, openCrowd } from '../support/batch-of-payers.js';
import { testServices } from '../support/suite.js';
import { openWebhookFlow, type WebhookFlow } from '../support/webhook-flow.js';

/** Slots of one worker process of the default concurrency: in all, for one account, for one host of it. */
const SLOTS = 400;
const OF_ONE_ACCOUNT = SLOTS / 2;
const OF_ONE_HOST = OF_ONE_ACCOUNT / 2;
const EVENTS = 5;
const LONGEST_FIRST_PAUSE_MS = 33_300;
/** Every slot twice: tries that end meanwhile make room for as many, but no event waits for a whole round. */
const BEGUN_MEANWHILE = 2 * OF_ONE_ACCOUNT;

const crowds: Record<string, CrowdSize> = {
  '100 endpoints of one host': { hosts: 1, endpointsPerHost: 100 },
  '100 endpoints of 25 hosts': { hosts: 25, endpointsPerHost: 4 },
};

describe('one account and the others', function () {
  this.timeout(120_000);
  let flow: WebhookFlow;
  let proxy: TcpProxy;
  const opened: Crowd[] = [];
  afterEach(async () => {
    resetClock();
    await killProcesses();
    await Promise.all(opened.splice(0).map((crowd) => crowd.close()));
    await flow.close();
    await proxy.refuse();
  });

  async function open(environment: Record<string, string> = {}): Promise<void> {
    const { hostname, port } = new URL(testServices().redisUrl);
    proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
    flow = await openWebhookFlow('webhooks_accounts', {
      worker: false,
      environment: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, ...environment },
    });
  }

  async function addCrowd(size: CrowdSize): Promise<Crowd> {
    const crowd = await openCrowd(flow.app, size);
    opened.push(crowd);
    return crowd;
  }

  /** Tries that hang have taken every slot that it may have. */
  async function untilItHangs(crowd: Crowd, tries: number): Promise<void> {
    await eventually(() => assert.ok(crowd.got().length >= tries, `${crowd.got().length} tries`));
  }

  const count = (where: Partial<WebhookDelivery>): Promise<number> =>
    WebhookDelivery.query(flow.db).where(where).resultSize();

  /** Single events, one after the other, while the crowd hangs: few of its tries begin meanwhile. */
  async function assertOvertaken(crowd: Pick<Crowd, 'got'>, calm: Crowd, quietly = false): Promise<void> {
    calm.react(answer(200));
    const before = crowd.got().length;
    for (let n = 1; n <= EVENTS; n += 1) {
      const had = calm.got().length;
      await calm.tell(1, { quietly });
      await eventually(() => assert.equal(calm.got().length, had + 1));
    }
    const begun = crowd.got().length - before;
    assert.ok(begun <= BEGUN_MEANWHILE, `${begun} tries of the other account came first`);
  }

  for (const store of ['Redis', 'Postgres', 'neither, since it is away'] as const) {
    for (const [what, size] of Object.entries(crowds)) {
      it(`an event overtakes another account's ${what} that hang; queue in ${store}`, async () => {
        await open(store === 'Postgres' ? { REDIS_URL: '' } : {});
        const [crowd, calm] = [await addCrowd(size), await addCrowd({ hosts: 1, endpointsPerHost: 1 })];
        await flow.startWorker();
        if (store === 'neither, since it is away') await proxy.refuse();
        await crowd.tell(20);
        await untilItHangs(crowd, OF_ONE_HOST);
        await assertOvertaken(crowd, calm);
        const left = await WebhookDelivery.query(flow.db)
          .where('status', 'pending')
          .whereIn('endpointId', [...crowd.endpointIds]);
        assert.equal(left.length, 2000, 'none is lost');
      });
    }
  }

  it('an event of which nobody was told overtakes them, too: it is found by the sweep', async () => {
    await open();
    const crowd = await addCrowd({ hosts: 2, endpointsPerHost: 500 });
    const calm = await addCrowd({ hosts: 1, endpointsPerHost: 1 });
    await flow.startWorker();
    await crowd.tell(3, { quietly: true });
    await untilItHangs(crowd, OF_ONE_HOST);
    await assertOvertaken(crowd, calm, true);
  });

  it('over two worker processes', async () => {
    await open();
    const crowd = await addCrowd({ hosts: 25, endpointsPerHost: 8 });
    const calm = await addCrowd({ hosts: 1, endpointsPerHost: 1 });
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    await crowd.tell(20);
    await untilItHangs(crowd, OF_ONE_ACCOUNT);
    await assertOvertaken({ got: () => crowd.got().slice(0, crowd.got().length / 2) }, calm);
  });

  for (const { size, most } of [
    { size: { hosts: 25, endpointsPerHost: 4 }, most: OF_ONE_ACCOUNT },
    { size: { hosts: 1, endpointsPerHost: 100 }, most: OF_ONE_HOST },
  ]) {
    it(`alone, an account has ${most} slots with ${size.hosts} hosts, at once`, async () => {
      await open();
      const crowd = await addCrowd(size);
      await flow.startWorker();
      await crowd.tell(20);
      // Before the first of them have ended.
      await untilItHangs(crowd, most * 0.95);
      assert.ok(crowd.got().length <= most);
    });
  }

  it('one host of an account that hangs leaves room for its others', async () => {
    await open();
    const crowd = await addCrowd({ hosts: 2, endpointsPerHost: 50 });
    const [dead, well] = crowd.receivers;
    await flow.startWorker();
    well?.react(answer(200));
    await crowd.tell(20);
    await eventually(() => assert.equal(well?.got.length, 1000));
    assert.ok((dead?.got.length ?? 0) <= 2 * OF_ONE_HOST, `${dead?.got.length} tries`);
  });

  it('of several that hang each has its turn, and there is room for one more', async () => {
    await open();
    const heavy: Crowd[] = [];
    for (let n = 0; n < 4; n += 1) heavy.push(await addCrowd({ hosts: 4, endpointsPerHost: 25 }));
    const calm = await addCrowd({ hosts: 1, endpointsPerHost: 1 });
    await flow.startWorker();
    for (const crowd of heavy) await crowd.tell(20);
    await eventually(() => {
      const begun = heavy.map((crowd) => crowd.got().length);
      assert.ok(Math.min(...begun) >= SLOTS / 20, `${begun}`);
    });
    await assertOvertaken({ got: () => heavy.flatMap((crowd) => crowd.got()) }, calm);
  });

  it('a worker that is killed with its slots taken blocks no other account, and loses nothing', async () => {
    const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
    await open({ ENCRYPTION_KEY });
    const crowd = await addCrowd({ hosts: 10, endpointsPerHost: 5 });
    const calm = await addCrowd({ hosts: 1, endpointsPerHost: 1 });
    const doomed = await startWorkerProcess({
      DATABASE_URL: flow.databaseUrl,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: flow.facilitator.url,
      BASE_URL: 'https://pay.example',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      ENCRYPTION_KEY,
    });
    await crowd.tell(6);
    await untilItHangs(crowd, OF_ONE_HOST);
    await doomed.kill();
    await flow.startWorker();
    await assertOvertaken(crowd, calm);
    crowd.react(answer(200));
    // Until the leases of the killed one run out; what hangs still has been tried once then.
    advanceClock(LEASE_MS + 1000);
    await eventually(async () => {
      assert.equal(await count({ status: 'pending', tries: 0 }), 0);
    });
    // And until each of these is due again.
    advanceClock(LONGEST_FIRST_PAUSE_MS);
    await eventually(async () => {
      assert.equal(await count({ status: 'succeeded' }), 300 + EVENTS);
    });
  });
});
