import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { loadConfig } from '../../../shared/config/config.js';
import { createLogger } from '../../../shared/process/logger.js';
import { openRedis } from '../../../shared/queues/connection.js';
import { decisionNotifier, decisionSubscriber } from '../../../shared/queues/decision-notifier.js';
import { testServices } from '../../support/suite.js';

const LOGGER = createLogger('silent', 'test');

describe('notifications of decided payments over Redis', () => {
  let proxy: TcpProxy;
  before(async () => {
    proxy = await TcpProxy.start(testServices().redisUrl);
  });
  after(() => proxy.refuse());

  it("arrive again after the subscriber's connection breaks, and the subscriber can be stopped while it resubscribes", async () => {
    const received: string[] = [];
    const subscriber = decisionSubscriber(configOf(proxy.url), LOGGER)((id) => received.push(id));
    const publisher = openRedis(configOf(testServices().redisUrl), LOGGER);
    const notify = decisionNotifier(publisher);
    await eventually(() => {
      notify('pay_1');
      assert.ok(received.includes('pay_1'));
    });
    proxy.cut();
    await eventually(() => {
      notify('pay_2');
      assert.ok(received.includes('pay_2'));
    });
    // The notifier's next subscription is never answered. An unhandled rejection would end a process.
    const unhandled: unknown[] = [];
    const record = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', record);
    const unanswered = proxy.swallow({ ways: ['up'], from: /subscribe/ });
    proxy.cut();
    await eventually(() => assert.ok(unanswered.dropped().length > 0));
    subscriber.stop();
    publisher.disconnect();
    await eventually(() => assert.equal(proxy.connections, 0));
    await sleep(50);
    process.off('unhandledRejection', record);
    assert.deepEqual(unhandled, []);
  });
});

function configOf(url: string): { url: string; verifyTls: boolean } {
  const { redis } = loadConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: url }, 'migrate');
  assert.ok(redis !== undefined);
  return redis;
}
