import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express from 'express';
import { createHttpServer, drain, trackInFlight } from '../../../api/process/http-server.js';
import { holdThread } from '../../support/hold-thread.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** Longer than a connection stays open that looks idle. */
const BUSY_MS = 1100;
/** The requests of all connections together take longer than BUSY_MS, though each takes only WORK_MS. */
const CONNECTIONS = 60;
const WORK_MS = 30;

describe('a stopping web process', () => {
  let workMs: number;
  let drained: Promise<void>;
  let stop: () => void;
  let port: number;
  let listening: () => boolean;

  beforeEach(async () => {
    workMs = 0;
    const app = express().get('/', (_req, res) => {
      holdThread(workMs);
      res.end('served');
    });
    const server = createHttpServer(app);
    const inFlight = trackInFlight(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    stop = () => {
      drained = drain(server, inFlight, { handedOver: Promise.resolve(), timeoutMs: 60_000 });
    };
    listening = () => server.listening;
  });

  /** A connection that is kept alive after its first request. */
  async function keptAlive(): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    socket.write(REQUEST);
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 /);
    return socket;
  }

  async function assertServed(socket: Socket): Promise<void> {
    const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    assert.match(String(answer), /^HTTP\/1\.1 200 /);
    socket.destroy();
  }

  it('answers a request that came while it was busy, on a connection that looks idle', async () => {
    const socket = await keptAlive();
    stop();
    while (listening()) await nextTurn();
    socket.write(REQUEST);
    holdThread(BUSY_MS);
    await assertServed(socket);
    await drained;
  });

  it('answers the requests of many connections, however long they wait for their turn', async () => {
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, keptAlive));
    workMs = WORK_MS;
    const served = sockets.map(assertServed);
    for (const socket of sockets) socket.write(REQUEST);
    stop();
    await Promise.all(served);
    await drained;
  });

  it('ends connections without a request', async () => {
    const socket = await keptAlive();
    stop();
    await Promise.all([once(socket, 'close'), drained]);
  });
});
