import assert from 'node:assert/strict';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { boundConnections } from '../../../api/process/bound-connections.js';
import { holdThread } from '../../support/hold-thread.js';

/** More than new connections may take of a turn of the event loop. */
const HELD_MS = 6;

describe('connections that are opened together', () => {
  let server: Server;
  let begun: Socket[];
  beforeEach(() => {
    begun = [];
    server = createServer();
    const [begin] = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      begun.push(socket);
      holdThread(HELD_MS);
      begin?.call(server, socket);
    });
    boundConnections(server, { IncomingMessage, ServerResponse }, { countsAddresses: false });
  });

  function open(count: number): Socket[] {
    const sockets = Array.from({ length: count }, () => new Socket());
    for (const socket of sockets) server.emit('connection', socket);
    return sockets;
  }

  it('begin in several turns of the event loop, in their order', async () => {
    const sockets = open(3);
    assert.equal(begun.length, 1);
    while (begun.length < 3) await nextTurn();
    assert.deepEqual(begun, sockets);
    for (const socket of sockets) socket.destroy();
  });

  it('may break before they begin', async () => {
    const [first, broken, last] = open(3);
    broken?.emit('error', new Error('ECONNRESET'));
    while (begun.length < 2) await nextTurn();
    await nextTurn();
    assert.deepEqual(begun, [first, last]);
    assert.ok(broken?.destroyed);
    for (const socket of [first, last]) socket?.destroy();
  });
});
