import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { openRedisNodes, type RedisNode, type RedisNodes } from '../../../lab/world/processes/redis-nodes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { JOB_NAMES } from '../../../shared/jobs/jobs.js';
import { createLogger } from '../../../shared/process/logger.js';
import { isRefusedByReplica, openRedis } from '../../../shared/queues/connection.js';
import { decisionNotifier, decisionSubscriber } from '../../../shared/queues/decision-notifier.js';
import { answerOf } from '../../support/link-answers.js';
import { type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';

const HOST = '127.0.0.1';
const urlOf = ({ port }: RedisNode): string => `redis://${HOST}:${port}`;

/** The connections of BullMQ that wait for jobs. */
async function countWaiting({ client }: RedisNode): Promise<number> {
  return String(await client.client('LIST')).match(/ cmd=bzpopmin /g)?.length ?? 0;
}

/** A process gives a connection up when a call on it is silent for too long, so one may leave the former primary before others. */
const STORIES = [
  { kept: 'all connections', losesWebs: false },
  { kept: "the worker's connections only", losesWebs: true },
];

for (const [index, { kept, losesWebs }] of STORIES.entries()) {
  describe(`a Redis behind one address whose former primary keeps ${kept} and becomes a replica`, () => {
    let nodes: RedisNodes;
    let former: RedisNode;
    let primary: RedisNode;
    let address: TcpProxy;
    let flow: MoneyFlow;
    const decided: string[] = [];
    const subscribe = () =>
      decisionSubscriber({ url: address.url, verifyTls: true }, createLogger('silent', 'test'));
    let subscription: ReturnType<ReturnType<typeof subscribe>>;

    before(async () => {
      nodes = await openRedisNodes();
      [former, primary] = [await nodes.start(), await nodes.start()];
      address = await TcpProxy.start(urlOf(former));
      flow = await openMoneyFlow(`redis_failed_over_${index}`, { environment: { REDIS_URL: address.url } });
      subscription = subscribe()((id) => decided.push(id));
    });
    after(async () => {
      subscription.stop();
      await flow.close();
      await address.refuse();
      await nodes.stop();
    });

    async function assertServes(node: RedisNode): Promise<void> {
      await eventually(() => flow.app.queues.check());
      await eventually(async () => {
        assert.equal(await countWaiting(node), JOB_NAMES.length, 'workers that wait for jobs');
      });
      const sessions = await Promise.all(Array.from({ length: 5 }, () => flow.buildSession()));
      const answers = await Promise.all(sessions.map(({ id }) => flow.pay(id).then(answerOf)));
      assert.deepEqual(new Set(answers), new Set(['200 complete']));
      await eventually(async () => assert.deepEqual(await node.client.keys('*-payment:pay_*'), []));
      await flow.app.apiRateLimiter.take('merchant');
      assert.ok((await node.client.keys('*')).includes('api:merchant'));
    }

    it('is used at the new primary: by queues, limits and notifications', async () => {
      await assertServes(former);
      await primary.client.replicaof(HOST, former.port);
      await eventually(async () =>
        assert.match(await primary.client.info('replication'), /master_link_status:up/),
      );

      await primary.client.replicaof('NO', 'ONE');
      await primary.client.flushall();
      address.leadNewTo(urlOf(primary));
      if (losesWebs) await former.client.client('KILL', 'ID', `${await flow.app.redis?.client('ID')}`);
      await former.client.replicaof(HOST, primary.port);

      await assertServes(primary);
      // Redis replicates a message too, so the subscriber may be at either server.
      const notify = decisionNotifier(flow.app.redis);
      await eventually(() => {
        notify('pay_notified');
        assert.ok(decided.includes('pay_notified'), 'no notification arrived');
      });
      await flow.assertBooks();
    });
  });
}

describe('a Redis that stays a replica', () => {
  let nodes: RedisNodes;
  before(async () => {
    nodes = await openRedisNodes();
  });
  after(() => nodes.stop());

  it('is not connected to again with each write of a request', async () => {
    const primary = await nodes.start();
    const replica = await nodes.start({ replicaof: `${HOST} ${primary.port}` });
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await replica.client.info('stats'))?.[1]);
    const client = openRedis({ url: urlOf(replica), verifyTls: true }, createLogger('silent', 'test'));
    try {
      await eventually(() => assert.equal(client.status, 'ready'));
      const [before, beganAt] = [await connections(), performance.now()];
      for (let refused = 0; refused < 20; ) {
        await nextTurn();
        const error = await client.set('x', '1').catch((reason: Error) => reason);
        if (error instanceof Error && isRefusedByReplica(error)) refused += 1;
      }
      const again = (await connections()) - before;
      const seconds = (performance.now() - beganAt) / 1000;
      assert.ok(again >= 1 && again <= 2 + seconds, `${again} connections in ${seconds} s`);
    } finally {
      client.disconnect();
    }
  });
});
