import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { platform } from 'node:os';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  startWebProcess,
  type WebServiceProcess,
} from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { buildMerchant, type Merchant } from '../../../lab/world/shop/factories.js';
import { revokeApiKey } from '../../../shared/accounts/api-keys.js';
import { ApiKey } from '../../../shared/accounts/model.js';
import { loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { HEAVY_ANSWERS } from '../../../shared/limits/bounds.js';
import { buildHeavySessions } from '../../support/heavy-sessions.js';
import { readRest, requestAndStall } from '../../support/stalled-reader.js';
import { sdk } from '../../support/stripe-sdk.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';

const MIB = 1024 * 1024;
/** Sessions of 1.6 MB each: the JSON of ten lists of so many is larger than the heap. */
const MANY = 20;
/** A list of so many is still longer than what lies between the process and a client that stops reading. */
const HEAVY = 10;
const HEAP_MB = 256;
const MOST_RESIDENT = 400 * MIB;
const READERS = 3;
const STALLED = 7;
const LEFT_AT_ONCE = 5;
const EXPANDED = '/v1/checkout/sessions?limit=100&expand[]=data.line_items';

describe('a web process with a small heap, under requests for heavy lists', () => {
  let db: Knex;
  let proxy: TcpProxy;
  let web: WebServiceProcess;
  let shop: Merchant;
  const sockets: Socket[] = [];
  before(async () => {
    const url = await createMigratedDatabase('heavy_lists');
    db = openDatabase(loadConfig({ DATABASE_URL: url }, 'migrate').database);
    proxy = await TcpProxy.start(url);
    web = await startWebProcess({
      DATABASE_URL: proxy.url,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      BASE_URL: 'https://pay.example',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    });
  });
  beforeEach(async () => {
    shop = await buildMerchant(db);
    await buildHeavySessions(db, shop.accountId, HEAVY);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    // A story that failed may have left Postgres unreachable.
    await proxy.accept();
  });
  after(async () => {
    await killProcesses();
    await proxy.refuse();
    await db.destroy();
  });

  /** Requests the list and stops reading once the answer has begun. */
  async function stall(): Promise<Socket> {
    const socket = await requestAndStall(web.port, EXPANDED, shop.testKey);
    sockets.push(socket);
    return socket;
  }

  it('answers ten of them at once, seven to clients that stop reading, within 400 MB', async () => {
    await buildHeavySessions(db, shop.accountId, MANY - HEAVY);
    await Promise.all(Array.from({ length: STALLED }, stall));
    const whole = await Promise.all(Array.from({ length: READERS }, async () => readRest(await stall())));
    for (const { bytes, end } of whole) {
      assert.ok(bytes > MANY * 1.5 * MIB, `${bytes} bytes`);
      assert.ok(end.endsWith(']}\r\n0\r\n\r\n'), end);
    }
    if (platform() === 'linux') assert.ok(mostResident() < MOST_RESIDENT, `${mostResident()} bytes`);
    assert.equal(web.child.exitCode, null);
  });

  function mostResident(): number {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${web.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  }

  /** Log lines of this spec's own account only: a list of an earlier spec may still end later. */
  const finished = (): Record<string, unknown>[] =>
    web.lines().filter(({ event, account }) => event === 'request.finished' && account === shop.accountId);
  const failedOf = ({ request_id: id }: Record<string, unknown>): Record<string, unknown>[] =>
    web.lines().filter(({ event, request_id }) => event === 'database.away' && request_id === id);

  it('breaks the chunked answer off when Postgres is lost, so that it never seems complete', async () => {
    const socket = await stall();
    await proxy.refuse();
    const { end } = await readRest(socket);
    assert.ok(!end.endsWith('0\r\n\r\n'), end);
    await proxy.accept();
    const line = await eventually(() => finished()[0] ?? assert.fail('no line'));
    assert.deepEqual([line.status, line.aborted, line.code], [200, true, 'service_unavailable']);
    assert.equal(failedOf(line).length, 1);
  });

  it('which breaks off is an error of the stock SDK, not a short list', async () => {
    const list = (httpAgent?: Agent) =>
      sdk(shop.testKey, web.port, {
        maxNetworkRetries: 0,
        ...(httpAgent && { httpAgent }),
      }).checkout.sessions.list({
        limit: 100,
        expand: ['data.line_items'],
      });
    const agent = new Agent();
    const createConnection = agent.createConnection.bind(agent);
    // Postgres is lost as soon as the answer begins.
    agent.createConnection = (options, callback) =>
      createConnection(options, callback)?.once('data', () => void proxy.refuse());
    await assert.rejects(list(agent), { type: 'StripeConnectionError' });
    await proxy.accept();
    const { data } = await list();
    assert.equal(data.length, HEAVY);
  });

  it('breaks the answer off when the key is revoked, without logging an error of its own', async () => {
    const socket = await stall();
    const key = await ApiKey.query(db)
      .findOne({ accountId: shop.accountId, livemode: false })
      .throwIfNotFound();
    await revokeApiKey(db, key.id);
    const { end } = await readRest(socket);
    assert.ok(!end.endsWith('0\r\n\r\n'), end);
    const line = await eventually(() => finished()[0] ?? assert.fail('no line'));
    assert.deepEqual([line.status, line.aborted, line.code], [200, true, 'api_key_revoked']);
    assert.deepEqual(failedOf(line), []);
  });

  it('stops working for clients that disconnect, and serves the next one', async () => {
    for (let left = LEFT_AT_ONCE; left <= HEAVY_ANSWERS.perAccount + LEFT_AT_ONCE; left += LEFT_AT_ONCE) {
      const stalled = await Promise.all(Array.from({ length: LEFT_AT_ONCE }, stall));
      for (const socket of stalled) socket.resetAndDestroy();
      await eventually(() => assert.equal(finished().length, left));
    }
    const stripe = sdk(shop.testKey, web.port);
    let count = 0;
    for await (const { line_items } of stripe.checkout.sessions.list({
      limit: 6,
      expand: ['data.line_items'],
    })) {
      assert.equal(line_items?.data.length, 100);
      count += 1;
    }
    assert.equal(count, HEAVY);
  });
});
