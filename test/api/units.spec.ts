import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import * as bounds from '../../shared/limits/bounds.js';
import { client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { SESSIONS } from '../support/orders.js';
import { ROOT, readSources } from '../support/source-graph.js';
import { UNITS } from '../support/units/units.js';
import { exchange, openWire, restOf, statusesOf } from '../support/wire.js';

const COMMENT = /\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST_HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const FULL_HEAD = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: `;

describe('the units of test/support/units/units.ts', () => {
  let app: TestApp;
  let key: string;
  const sockets: Socket[] = [];
  const fine = async (): Promise<void> =>
    assert.deepEqual(statusesOf(await exchange(app.port, LAST_HEALTH)), [200]);

  async function open(number: number): Promise<void> {
    for (let i = 0; i < number; i += 1) {
      const socket = openWire(app.port);
      sockets.push(socket);
      await once(socket, 'connect');
    }
  }

  const create = async (text: string): Promise<string> => {
    const { body } = await client(app, key).post(SESSIONS, text);
    return body.error.code;
  };
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const list = (values: number): string => JSON.stringify({ a: Array.from({ length: values - 2 }, () => 1) });

  const variables = readSources('shared').filter(({ file }) => file.startsWith('shared/config/'));

  /** Each trial uses the whole bound, and one step beyond. */
  const trials: Record<string, () => Promise<void>> = {
    async MAX_CONNECTIONS() {
      assert.equal(app.server.maxConnections, bounds.MAX_CONNECTIONS);
      app.server.maxConnections = 5;
      await open(4);
      const fifth = openWire(app.port);
      sockets.push(fifth);
      fifth.write(HEALTH);
      const [bytes] = await once(fifth, 'data');
      assert.deepEqual(statusesOf(String(bytes)), [200]);
      assert.equal(await restOf(openWire(app.port)), '');
    },
    async MAX_CONNECTIONS_OF_ADDRESS() {
      await open(bounds.MAX_CONNECTIONS_OF_ADDRESS - 1);
      const last = openWire(app.port);
      sockets.push(last);
      await once(last, 'connect');
      const isDropped = once(app.server, 'drop');
      assert.equal(await restOf(openWire(app.port)), '');
      await isDropped;
      last.write(LAST_HEALTH);
      assert.deepEqual(statusesOf(await restOf(last)), [200]);
    },
    async MAX_UNANSWERED_OF_CONNECTION() {
      const requests = bounds.MAX_UNANSWERED_OF_CONNECTION + 1;
      let waiting = 0;
      let most = 0;
      app.server.on('request', (_req, res) => {
        waiting += 1;
        most = Math.max(most, waiting);
        res.once('finish', () => {
          waiting -= 1;
        });
      });
      const answers = await exchange(
        app.port,
        `GET ${SESSIONS} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(5 * requests) + LAST_HEALTH,
      );
      assert.equal(statusesOf(answers).length, 5 * requests + 1);
      assert.ok(most < requests, `${most} at once`);
    },
    async MAX_REQUEST_HEADERS() {
      const lines = (count: number): string =>
        HEALTH.replace('\r\n\r\n', `\r\n${'X: y\r\n'.repeat(count - 1)}\r\n`);
      const most = bounds.MAX_REQUEST_HEADERS;
      const answers = await exchange(app.port, lines(most) + lines(most + 1));
      assert.deepEqual(statusesOf(answers), [200, 431]);
    },
    async MAX_HEADER_BYTES() {
      // Node counts neither the method and the version nor the separators.
      const head = (bytes: number): string => `${FULL_HEAD}${'x'.repeat(bytes - FULL_HEAD.length)}\r\n\r\n`;
      assert.deepEqual(
        statusesOf(
          await exchange(app.port, head(bounds.MAX_HEADER_BYTES) + head(bounds.MAX_HEADER_BYTES + 100)),
        ),
        [200, 431],
      );
    },
    async HELD_INPUT() {
      await app.close();
      app = await openTestApp({ TRUST_PROXY: '1' });
      // Node would close the connection for being slow.
      Object.assign(app.server, { headersTimeout: 0, requestTimeout: 0, timeout: 0 });
      const half = `${FULL_HEAD}${'x'.repeat(30_000)}`;
      const first = openWire(app.port).resume();
      sockets.push(first);
      first.write(half);
      await fine();
      const isCut = once(first, 'end');
      for (let held = 0; held <= bounds.HELD_INPUT.bytes; held += half.length) {
        const socket = openWire(app.port);
        sockets.push(socket);
        socket.write(half);
        if (held + 2 * half.length < bounds.HELD_INPUT.bytes) assert.equal(first.readableEnded, false);
      }
      await isCut;
      await fine();
    },
    async READ_OUT() {
      const refused = `${FULL_HEAD}${'x'.repeat(40_000)}\r\n\r\n`;
      const within = await exchange(app.port, refused + 'x'.repeat(bounds.READ_OUT.bytes / 2));
      assert.deepEqual(statusesOf(within), [431]);
      const endless = openWire(app.port).resume();
      sockets.push(endless);
      endless.write(refused + 'x'.repeat(2 * bounds.READ_OUT.bytes));
      await new Promise((resolve) => endless.on('close', resolve));
    },
    async MAX_BODY_BYTES() {
      const most = bounds.MAX_BODY_BYTES;
      assert.equal(await create(`{"a":1}${' '.repeat(most - 7)}`), 'parameter_missing');
      assert.equal(await create(`{"a":1}${' '.repeat(most - 6)}`), 'body_too_large');
    },
    async MAX_BODY_VALUES() {
      assert.equal(await create(list(bounds.MAX_BODY_VALUES)), 'parameter_missing');
      assert.equal(await create(list(bounds.MAX_BODY_VALUES + 1)), 'body_too_large');
    },
    async MAX_BODY_DEPTH() {
      assert.equal(await create(nested(bounds.MAX_BODY_DEPTH)), 'parameter_missing');
      assert.equal(await create(nested(bounds.MAX_BODY_DEPTH + 1)), 'body_too_large');
    },
  };

  /** Each trial has a service of its own, which it may change. */
  async function tryOut(trial: () => Promise<void>): Promise<void> {
    app = await openTestApp();
    try {
      ({ testKey: key } = await buildMerchant(app.db));
      await trial();
    } finally {
      for (const socket of sockets.splice(0)) socket.destroy();
      await app.close();
    }
  }

  for (const [name, { unit, holder, enforcedIn, triedIn, property }] of Object.entries(UNITS)) {
    it(`${unit} of one ${holder}: ${name}`, async () => {
      const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
      if (property === undefined) assert.ok(name in bounds, 'bounds.ts has the bound');
      else
        assert.ok(
          variables.some(({ text }) => text.includes(`'${name}'`)),
          'it is a variable',
        );
      assert.match(
        read(enforcedIn).replaceAll(COMMENT, ''),
        new RegExp(`\\b${property ?? name}\\b`),
        enforcedIn,
      );
      assert.ok(existsSync(path.join(ROOT, triedIn)), triedIn);
      if (path.join(ROOT, triedIn) === import.meta.filename)
        await tryOut(trials[name] ?? assert.fail('no trial'));
    });
  }
});
