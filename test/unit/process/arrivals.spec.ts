import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express from 'express';
import { createHttpServer } from '../../../api/process/http-server.js';
import { holdThread } from '../../support/hold-thread.js';
import { openWire, statusesOf } from '../../support/wire.js';

const CONNECTIONS = 20;
/** More than arrivals may take of a turn of the event loop. */
const HELD_MS = 11;
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('what arrives at many connections at once', () => {
  let server: Server;
  let sockets: Socket[];
  /** The turn of the event loop in which each request came to its handler. */
  let turns: number[];
  let turn: number;
  let isOver: boolean;

  beforeEach(async () => {
    [turns, turn, isOver] = [[], 0, false];
    const app = express();
    app.use((_req, res) => {
      turns.push(turn);
      holdThread(HELD_MS);
      res.end('fine');
    });
    server = createHttpServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    sockets = [];
    for (let i = 0; i < CONNECTIONS; i += 1) {
      const socket = openWire((server.address() as AddressInfo).port);
      sockets.push(socket);
      await once(socket, 'connect');
    }
    void (async () => {
      for (; !isOver; turn += 1) await nextTurn();
    })();
  });
  afterEach(async () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  async function answers(): Promise<number[][]> {
    return await Promise.all(
      sockets.map(async (socket) => {
        const pieces: Buffer[] = [];
        for await (const piece of socket) pieces.push(piece);
        return statusesOf(Buffer.concat(pieces).toString());
      }),
    );
  }

  for (const [what, first, send] of [
    ['requests', '', (socket: Socket) => socket.write(REQUEST)],
    ['ends of half-sent requests', REQUEST.slice(0, -2), (socket: Socket) => socket.end()],
  ] as const) {
    it(`is read in several turns of the event loop: ${what}`, async () => {
      for (const socket of sockets) socket.write(first);
      while (turn < 100) await nextTurn();
      for (const socket of sockets) send(socket);
      assert.deepEqual(await answers(), Array(CONNECTIONS).fill([200]));
      assert.equal(new Set(turns).size, CONNECTIONS);
    });
  }

  it('lets a connection that has had an answer go before most of the new ones', async () => {
    const [known, ...fresh] = sockets as [Socket, ...Socket[]];
    known.write(REQUEST.replace('close', 'keep-alive'));
    await once(known, 'data');
    turns.length = 0;
    for (const socket of fresh) socket.write(REQUEST);
    while (turns.length < 2) await nextTurn();
    known.write(REQUEST);
    const answered = once(known, 'data').then(() => turns.length);
    await Promise.all(fresh.map((socket) => once(socket, 'data')));
    assert.ok((await answered) <= CONNECTIONS / 2, `answered after ${await answered}`);
  });
});
