import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { RedisClock } from '../../lab/world/proxy/redis-clock.js';
import { testServices } from '../support/suite.js';

const HOUR_SECONDS = 3600;
const READS_TIME = "local time = redis.call('TIME') return tonumber(time[1])";

describe('a Redis whose clock is set', () => {
  let clock: RedisClock;
  let redis: Redis;
  before(async () => {
    clock = await RedisClock.start(testServices().redisUrl);
    redis = new Redis(clock.url);
  });
  afterEach(() => clock.set(0));
  after(async () => {
    redis.disconnect();
    await clock.stop();
  });

  const offBy = async (): Promise<number> => Number(await redis.eval(READS_TIME, 0)) - Date.now() / 1000;

  it('tells scripts another time, ahead or back, and everything else as it is', async () => {
    for (const hours of [0, 1, -1]) {
      clock.set(hours * HOUR_SECONDS * 1000);
      assert.ok(Math.abs((await offBy()) - hours * HOUR_SECONDS) < 60);
      assert.equal(await redis.eval('return ARGV[1]', 0, 'kept'), 'kept');
    }
  });

  it('takes commands in pieces, and many in one piece', async () => {
    clock.set(HOUR_SECONDS * 1000);
    const { hostname, port } = new URL(clock.url);
    const socket = net.connect(Number(port), hostname);
    const answers: string[] = [];
    socket.on('data', (data) => answers.push(data.toString()));
    await once(socket, 'connect');
    const ping = '*1\r\n$4\r\nPING\r\n';
    const script = `*3\r\n$4\r\nEVAL\r\n$${READS_TIME.length}\r\n${READS_TIME}\r\n$1\r\n0\r\n`;
    for (const byte of ping) {
      socket.write(byte);
      await turn();
    }
    socket.write(script + ping + ping);
    while ((answers.join('').match(/PONG/g) ?? []).length < 3) await once(socket, 'data');
    const [, seconds = ''] = /^\+PONG\r\n:(\d+)\r\n\+PONG\r\n\+PONG\r\n$/.exec(answers.join('')) ?? [];
    assert.ok(Math.abs(Number(seconds) - Date.now() / 1000 - HOUR_SECONDS) < 60, answers.join(''));
    socket.destroy();
  });
});
