import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type Response } from 'express';
import { watchUnread } from '../../../api/http/unread-answers.js';
import { eventually } from '../../../lab/world/processes/eventually.js';

/** More than the buffers of two sockets on one machine hold. */
const LONG = 'x'.repeat(16 * 1024 * 1024);
const BYTES = 1.5 * LONG.length;
const WAITED_MS = 50;
const LONG_MS = 60_000;

describe('unread answers', () => {
  let server: Server;
  let answers: Response[] = [];
  let waitedMs = WAITED_MS;
  let total = Number.POSITIVE_INFINITY;
  const sockets: Socket[] = [];
  before(async () => {
    const app = express();
    app.use((req, res) => {
      const accountId = req.path.slice(1);
      Object.assign(req, { principal: { accountId } });
      answers.push(res);
      res.end(LONG);
      watchUnread(res, { bytes: BYTES, total, waitedMs, countedFrom: 1 });
    });
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually(() => assert.ok(answers.every(({ closed }) => closed)));
    answers = [];
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function ask(account: string): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    socket.write(`GET /${account} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, 'readable');
    return socket;
  }

  const cut = (): boolean[] => answers.map(({ destroyed }) => destroyed);

  it('are cut off, the oldest first, when their account has too many', async () => {
    for (const account of ['a', 'b', 'a', 'b']) {
      await ask(account);
      await pause(WAITED_MS);
    }
    assert.deepEqual(cut(), [true, true, false, false]);
  });

  it('are cut off, the oldest first, when all have too many', async () => {
    total = 2.5 * LONG.length;
    for (const account of ['a', 'b', 'c', 'd']) {
      await ask(account);
      await pause(WAITED_MS);
    }
    total = Number.POSITIVE_INFINITY;
    assert.deepEqual(cut(), [true, true, false, false]);
  });

  it('are not cut off while they are new', async () => {
    waitedMs = LONG_MS;
    await Promise.all([ask('a'), ask('a'), ask('a')]);
    waitedMs = WAITED_MS;
    assert.deepEqual(cut(), [false, false, false]);
  });

  it('no longer count once they are read', async () => {
    for (const account of ['a', 'a', 'a', 'a', 'a']) {
      const socket = await ask(account);
      await pause(WAITED_MS);
      socket.resume();
      await eventually(() => assert.ok(answers.every(({ writableFinished }) => writableFinished)));
    }
  });

  it('are not all counted for each new one', () => {
    let counted = 0;
    const answer = (): Response => {
      const socket = Object.assign(new EventEmitter(), { destroyed: false });
      const res = Object.assign(new EventEmitter(), {
        req: { socket, principal: { accountId: 'many' } },
        destroy: () => socket.emit('close'),
      });
      return Object.defineProperty(res, 'writableLength', {
        get: () => (counted += 1),
      }) as never;
    };
    const all = Array.from({ length: 2000 }, answer);
    const limits = { bytes: 0, total: Number.POSITIVE_INFINITY, waitedMs: LONG_MS, countedFrom: 0 };
    for (const one of all) watchUnread(one, limits);
    for (const one of all) one.destroy();
    assert.ok(counted <= 3 * all.length, `${counted} times`);
  });
});
