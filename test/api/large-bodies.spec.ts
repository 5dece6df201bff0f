import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import {
  LARGE_BODIES_BYTES,
  LARGE_BODIES_BYTES_PER_ACCOUNT,
  LARGE_BODY_IN_FLIGHT_MS,
  MAX_BODY_BYTES,
  SMALL_BODY_BYTES,
} from '../../shared/limits/bounds.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { minimal, SESSIONS } from '../support/orders.js';

const ORDER = JSON.stringify(minimal);
const PER_ACCOUNT = LARGE_BODIES_BYTES_PER_ACCOUNT / MAX_BODY_BYTES;
const IN_ALL = LARGE_BODIES_BYTES / MAX_BODY_BYTES;

interface Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

describe('large bodies', () => {
  const app = forAllTests(openTestApp);
  let begun: ClientRequest[];
  beforeEach(() => {
    begun = [];
  });
  afterEach(async () => {
    for (const one of begun) one.destroy();
    await eventually(() => assert.equal(app.largeBodies.used, 0));
  });

  const newKey = async (): Promise<string> => (await buildMerchant(app.db)).testKey;

  function open(key: string, bytes: number, { path = SESSIONS, chunked = false } = {}): ClientRequest {
    const outgoing = request({
      port: app.port,
      method: 'POST',
      path,
      agent: false,
      headers: {
        Authorization: `Bearer ${key}`,
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        ...(chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': bytes }),
      },
    });
    begun.push(outgoing.on('error', () => undefined));
    return outgoing;
  }

  /** All but the last byte of a body. */
  function begin(key: string, bytes = MAX_BODY_BYTES, options = {}): ClientRequest {
    const outgoing = open(key, bytes, options);
    outgoing.write(ORDER.padEnd(bytes - 1));
    return outgoing;
  }

  const connections = (): Promise<number> =>
    new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));

  async function answerTo(outgoing: ClientRequest): Promise<Answer> {
    const [res] = await once(outgoing, 'response');
    return { status: res.statusCode, retryAfter: res.headers['retry-after'], text: await text(res) };
  }

  async function sendBody(key: string, bytes = MAX_BODY_BYTES, options = {}): Promise<Answer> {
    const outgoing = begin(key, bytes, options);
    outgoing.end(' ');
    return await answerTo(outgoing);
  }

  /** Starts `count` large bodies and waits until the budget has counted them. */
  async function startBodies(key: string, count: number, chunked = false): Promise<ClientRequest[]> {
    const before = app.largeBodies.used;
    const held = Array.from({ length: count }, () => begin(key, MAX_BODY_BYTES, { chunked }));
    await eventually(() => assert.equal(app.largeBodies.used, before + count * (MAX_BODY_BYTES - 1)));
    return held;
  }

  function assertNoRoom({ status, retryAfter, text: body }: Answer): void {
    assert.equal(status, 429, body);
    assert.equal(retryAfter, '1');
    assert.equal(JSON.parse(body).error.code, 'rate_limit');
  }

  for (const chunked of [false, true]) {
    it(`of one account leave half of the budget to others, ${chunked ? 'in chunks' : 'announced'}`, async () => {
      const [key, other] = [await newKey(), await newKey()];
      const held = await startBodies(key, PER_ACCOUNT, chunked);
      assertNoRoom(await sendBody(key, MAX_BODY_BYTES, { chunked }));
      assertNoRoom(await sendBody(key, MAX_BODY_BYTES, { chunked, path: '/mcp' }));
      assert.equal((await sendBody(key, SMALL_BODY_BYTES)).status, 200);
      assert.equal((await sendBody(other)).status, 200);
      for (const one of held) {
        one.end(' ');
        assert.equal((await answerTo(one)).status, 200);
      }
      assert.equal((await sendBody(key)).status, 200);
    });
  }

  it('of all accounts share a budget of memory, for which small ones never wait', async () => {
    for (let count = 0; count < IN_ALL; count += PER_ACCOUNT) await startBodies(await newKey(), PER_ACCOUNT);
    const key = await newKey();
    assertNoRoom(await sendBody(key));
    assert.equal((await sendBody(key, SMALL_BODY_BYTES)).status, 200);
    assert.ok(app.largeBodies.used <= LARGE_BODIES_BYTES);
  });

  it('use the budget as they arrive, not as announced', async () => {
    const key = await newKey();
    for (let count = 0; count < IN_ALL * 2; count += 1) open(key, MAX_BODY_BYTES).flushHeaders();
    await eventually(async () => assert.equal(await connections(), IN_ALL * 2));
    assert.equal((await sendBody(key)).status, 200);
  });

  const ends: Record<string, (outgoing: ClientRequest) => void> = {
    'abandoned by the client': (outgoing) => outgoing.destroy(),
    reset: (outgoing) => outgoing.socket?.resetAndDestroy(),
    refused: (outgoing) => outgoing.end('!'),
    answered: (outgoing) => outgoing.end(' '),
  };
  for (const [how, end] of Object.entries(ends)) {
    it(`release their budget when they are ${how}`, async () => {
      const [held = assert.fail()] = await startBodies(await newKey(), 1);
      end(held);
      await eventually(() => assert.equal(app.largeBodies.used, 0));
    });
  }

  it('are dropped after a time limit when a client sends or reads slowly', async () => {
    const inTime = mock.method(globalThis, 'setTimeout');
    const [held = assert.fail()] = await startBodies(await newKey(), 1);
    const call = inTime.mock.calls.find(({ arguments: [, ms] }) => ms === LARGE_BODY_IN_FLIGHT_MS);
    inTime.mock.restore();
    const cut = new Promise((resolve) => held.once('close', resolve));
    call?.arguments[0]();
    await cut;
    await eventually(() => assert.equal(app.largeBodies.used, 0));
  });
});
