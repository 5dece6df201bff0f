import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  formCluster,
  isMaster,
  openRedisNodes,
  type RedisNode,
  type RedisNodes,
} from '../../../lab/world/processes/redis-nodes.js';
import { createLogger } from '../../../shared/process/logger.js';
import { decisionNotifier, decisionSubscriber } from '../../../shared/queues/decision-notifier.js';
import { installationNamer } from '../../../shared/upkeep/installation.js';
import { openWebhookFlow, type WebhookFlow } from '../../support/webhook-flow.js';

const PAYMENTS = 24;
/** The master is killed when this many payments have begun. */
const KILLED_AT = 8;

interface Store {
  url: string;
  /** The master that the spec kills. */
  doomed: RedisNode;
  /** The replica that becomes master. */
  copy: RedisNode;
  /** The nodes that store data. */
  nodes: RedisNode[];
}

/** Forms a cluster in which the master of the settle-payment jobs has a replica. */
async function openCluster(nodes: RedisNodes): Promise<Store> {
  return await formCluster(nodes, '{checkout:settle-payment}');
}

async function openSentinel(nodes: RedisNodes): Promise<Store> {
  const doomed = await nodes.start();
  const copy = await nodes.start({ replicaof: `127.0.0.1 ${doomed.port}` });
  await eventually(async () => assert.match(await copy.client.info('replication'), /master_link_status:up/));
  const sentinels: RedisNode[] = [];
  for (let n = 0; n < 3; n += 1) sentinels.push(await nodes.startSentinel(doomed, 'main'));
  await eventually(async () => {
    for (const { client } of sentinels) {
      const known = String(await client.call('SENTINEL', 'MASTER', 'main'));
      assert.match(known, /num-slaves,1,num-other-sentinels,2/);
    }
  });
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return { url: `${nodes.scheme}+sentinel://${hosts}/main`, doomed, copy, nodes: [doomed, copy] };
}

for (const { name, open, tls, losesMaster } of [
  { name: 'cluster', open: openCluster, tls: false, losesMaster: false },
  { name: 'cluster', open: openCluster, tls: true, losesMaster: true },
  { name: 'sentinel', open: openSentinel, tls: false, losesMaster: true },
  { name: 'sentinel', open: openSentinel, tls: true, losesMaster: false },
]) {
  describe(`a Redis ${name}${tls ? ' with TLS' : ''}`, () => {
    let nodes: RedisNodes;
    let store: Store;
    let flow: WebhookFlow;
    before(async () => {
      nodes = await openRedisNodes({ tls });
      store = await open(nodes);
      const environment = { REDIS_URL: store.url, REDIS_TLS_VERIFY: `${!tls}` };
      flow = await openWebhookFlow(`redis_${nodes.scheme}_${name}`, { environment });
      await eventually(() => flow.app.queues.check());
    });
    after(async () => {
      await flow.close();
      await nodes.stop();
    });

    it('has the queues, the rate limits, and notifications of decisions', async () => {
      const logger = createLogger('silent', 'test');
      const received: string[] = [];
      const subscriber = decisionSubscriber(
        { url: store.url, verifyTls: !tls },
        logger,
      )((id) => received.push(id));
      const notify = decisionNotifier(flow.app.redis);
      await eventually(() => {
        notify('pay_notified');
        assert.ok(received.includes('pay_notified'), 'no notification arrived');
      });
      subscriber.stop();
      await flow.app.apiRateLimiter.take('merchant');
      await flow.app.queues.enqueue({
        name: 'confirm-payment',
        payload: { paymentId: 'pay_unknown' },
        id: 'pay_unknown',
        delayMs: 3_600_000,
      });
      const keys = await Promise.all(store.nodes.map(({ client }) => client.keys('*')));
      const tag = name === 'cluster' ? '{checkout:confirm-payment}' : 'checkout';
      const prefix = `${tag}:${await installationNamer(flow.db)()}`;
      for (const wanted of ['api:merchant', `${prefix}:confirm-payment:pay_unknown`])
        assert.ok(keys.flat().includes(wanted), `${wanted} is not there`);
    });

    if (!losesMaster) return;
    it('that loses a master during payments loses no payment and no webhook, and is used again', async () => {
      const { id: endpointId } = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
      const paying: Promise<string>[] = [];
      for (let n = 0; n < PAYMENTS; n += 1) {
        if (n === KILLED_AT) await store.doomed.kill();
        const { id } = await flow.buildSession();
        paying.push(
          flow.pay(id).then(({ status }) => {
            assert.ok([200, 202].includes(status), `a payment is answered ${status}`);
            return id;
          }),
        );
        await sleep(50);
      }
      const ids = await Promise.all(paying);
      await eventually(async () => {
        for (const id of ids) assert.equal((await flow.session(id)).status, 'complete');
      });
      await flow.untilSucceeded(endpointId, PAYMENTS);
      assert.equal(flow.facilitator.ledger.length, PAYMENTS);
      await eventually(async () => {
        assert.ok(await isMaster(store.copy), 'the replica is not master');
        await flow.app.queues.check();
      });
      const { id } = await flow.buildSession();
      assert.equal((await flow.pay(id)).status, 200);
      await flow.untilSucceeded(endpointId, PAYMENTS + 1);
    });
  });
}
