import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { openWire, restOf, statusesOf } from '../support/wire.js';

const PIECES = 20;

describe('a client that sends everything before it reads', () => {
  const app = forAllTests(openTestApp);

  it('gets the refusal of its headers, since what still comes is read', async () => {
    const socket = openWire(app.port).pause();
    const isAnswered = new Promise<void>((resolve) => {
      app.server.once('request', (_req: IncomingMessage, res: ServerResponse) => res.once('close', resolve));
    });
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(40_000)}`);
    await isAnswered;
    // Input that arrives at a closed socket is answered with a reset, which drops unread bytes.
    for (let pieces = 0; pieces < PIECES; pieces += 1) {
      await new Promise((resolve) => socket.write('x'.repeat(64 * 1024), resolve));
      await nextTurn();
    }
    assert.deepEqual(statusesOf(await restOf(socket)), [431]);
  });
});
