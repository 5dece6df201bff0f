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
import { exchange, openWire, statusesOf } from '../support/wire.js';

const COMMENT = /\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const LAST_HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const FULL_HEAD = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: `;

describe('the units of test/support/units/units.ts', () => {
  let app: TestApp;
  let key: string;
  const sockets: Socket[] = [];
  const fine = async (): Promise<void> =>
    assert.deepEqual(statusesOf(await exchange(app.port, LAST_HEALTH)), [200]);

  const create = async (text: string): Promise<string> => {
    const { body } = await client(app, key).post(SESSIONS, text);
    return body.error.code;
  };
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const list = (values: number): string => JSON.stringify({ a: Array.from({ length: values - 2 }, () => 1) });

  const variables = readSources('shared').filter(({ file }) => file.startsWith('shared/config/'));

  /** Each trial uses the whole bound, and one step beyond. */
  const trials: Record<string, () => Promise<void>> = {
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
