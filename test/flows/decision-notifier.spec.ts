import assert from 'node:assert/strict';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../lab/world/processes/eventually.js';
import { loadConfig } from '../../shared/config/config.js';
import { createLogger } from '../../shared/process/logger.js';
import { openRedis } from '../../shared/queues/connection.js';
import { decisionNotifier, decisionSubscriber } from '../../shared/queues/decision-notifier.js';
import { testServices } from '../support/suite.js';

const LOGGER = createLogger('silent', 'test');

describe('notifications of decided payments over Redis', () => {
  let redis: URL;
  let sockets: Set<net.Socket>;
  let proxy: net.Server;
  let subscriptions: number;
  let holdsFrom: number;

  before(async () => {
    redis = new URL(testServices().redisUrl);
    sockets = new Set();
    subscriptions = 0;
    holdsFrom = Number.POSITIVE_INFINITY;
    proxy = net.createServer((near) => {
      const far = net.connect(Number(redis.port), redis.hostname);
      for (const socket of [near, far]) {
        sockets.add(socket.on('error', () => undefined));
        socket.once('close', () => {
          sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      far.on('data', (bytes) => near.write(bytes));
      near.on('data', (bytes) => {
        if (bytes.includes('subscribe')) subscriptions += 1;
        if (subscriptions < holdsFrom) far.write(bytes);
      });
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });

  it("arrive again after the subscriber's connection breaks, and the subscriber can be stopped while it resubscribes", async () => {
    const { port: near } = proxy.address() as net.AddressInfo;
    const received: string[] = [];
    const subscriber = decisionSubscriber(
      configOf(`redis://127.0.0.1:${near}`),
      LOGGER,
    )((id) => received.push(id));
    const publisher = openRedis(configOf(testServices().redisUrl), LOGGER);
    const notify = decisionNotifier(publisher);
    await eventually(() => {
      notify('pay_1');
      assert.ok(received.includes('pay_1'));
    });
    for (const socket of sockets) socket.destroy();
    await eventually(() => {
      notify('pay_2');
      assert.ok(received.includes('pay_2'));
    });
    // Its next subscription is never answered. An unhandled rejection would end a process.
    const unhandled: unknown[] = [];
    const record = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', record);
    holdsFrom = subscriptions + 1;
    for (const socket of sockets) socket.destroy();
    await eventually(() => assert.ok(subscriptions >= holdsFrom));
    subscriber.stop();
    publisher.disconnect();
    await eventually(() => assert.equal(sockets.size, 0));
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
