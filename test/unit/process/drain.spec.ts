import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express from 'express';
import { createHttpServer, drain, trackInFlight } from '../../../api/process/http-server.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** Longer than a connection stays open that looks idle. */
const BUSY_MS = 1100;

describe('a stopping web process', () => {
  it('answers a request that came while it was busy, on a connection that looks idle', async () => {
    const server = createHttpServer(express().get('/', (_req, res) => res.end('served')));
    const inFlight = trackInFlight(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(REQUEST);
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 /);
    const drained = drain(server, inFlight, { handedOver: Promise.resolve(), timeoutMs: 60_000 });
    while (server.listening) await nextTurn();
    socket.write(REQUEST);
    for (const until = performance.now() + BUSY_MS; performance.now() < until; );
    const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    assert.match(String(answer), /^HTTP\/1\.1 200 /);
    socket.destroy();
    await drained;
  });
});
