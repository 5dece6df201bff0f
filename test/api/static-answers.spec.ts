import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { eventually } from '../../lab/world/processes/eventually.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { exchange, openWire, statusesOf } from '../support/wire.js';

/** Requests pipelined on each connection, so that the kernel does not hold all of the answers. */
const REQUESTS = 32;
const CONNECTIONS = 50;
const MIB = 1024 * 1024;

describe('answers that are the same for all', () => {
  const app = forAllTests(openTestApp);
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually(
      () =>
        new Promise<void>((resolve, reject) => {
          app.server.getConnections((_error, count) =>
            count === 0 ? resolve() : reject(new Error(`${count}`)),
          );
        }),
    );
  });

  const get = (path: string, ...headers: string[]): string =>
    [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

  for (const path of ['/openapi.json', '/llms.txt', 'the dashboard’s script']) {
    it(`${path}: clients who do not read take no copies`, async () => {
      const target = path.startsWith('/') ? path : (app.pageAssets.dashboard.script ?? assert.fail());
      const answer = await exchange(app.port, get(target, 'Connection: close'));
      assert.deepEqual(statusesOf(answer), [200]);
      const before = process.memoryUsage();
      for (let i = 0; i < CONNECTIONS; i += 1) {
        const socket = openWire(app.port).pause();
        sockets.push(socket);
        await once(socket, 'connect');
        socket.write(get(target).repeat(REQUESTS));
      }
      assert.deepEqual(statusesOf(await exchange(app.port, get('/healthz', 'Connection: close'))), [200]);
      const { arrayBuffers, external } = process.memoryUsage();
      const copied = CONNECTIONS * REQUESTS * answer.length;
      const grown = arrayBuffers - before.arrayBuffers + external - before.external;
      assert.ok(grown < Math.max(copied / 10, 8 * MIB), `${grown} bytes for ${copied} of answers`);
    });
  }
});
