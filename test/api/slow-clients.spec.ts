import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createApp } from '../../api/app.js';
import { CLIENT_TIMES, createHttpServer } from '../../api/process/http-server.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildSession } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { poolUse } from '../../shared/db/knex.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { SESSIONS } from '../support/orders.js';
import { exchange, openWire, restOf, statusesOf } from '../support/wire.js';

const LONGEST_SETTLE_WAIT_MS = 120_000;
/** Short, so that tests can wait for them. No test measures them: each goes on when the server has acted. */
const SHORT = { headersMs: 1000, requestMs: 1500, silenceMs: 60_000, checkEveryMs: 100 };
const SHORT_SILENCE = { ...SHORT, silenceMs: 3000 };

describe('slow clients', () => {
  const checkout = forAllTests(openCheckout);
  let server: Server;
  /** Disconnects clients that have been silent for a short time, too. */
  let silenceServer: Server;
  before(async () => {
    [server, silenceServer] = await Promise.all([start(SHORT), start(SHORT_SILENCE)]);
  });
  after(async () => {
    for (const one of [server, silenceServer]) {
      one.closeAllConnections();
      await new Promise((resolve) => one.close(resolve));
    }
  });

  async function start(times: typeof SHORT): Promise<Server> {
    const started = createHttpServer(createApp(checkout.app), times);
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return started;
  }

  const head = (line: string, ...headers: string[]): string =>
    [
      `${line} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${checkout.merchant.testKey}`,
      ...headers,
    ].join('\r\n');
  const requestHead = (line: string, ...headers: string[]): string => `${head(line, ...headers)}\r\n\r\n`;

  const portOf = (one: Server): number => (one.address() as AddressInfo).port;
  const open = (to = server): Socket => openWire(portOf(to));
  const ask = (request: string): Promise<string> => exchange(portOf(server), request);

  /** Writes a little at intervals while the server accepts it. */
  async function dribble(first: string, more: string): Promise<string> {
    const socket = open();
    socket.write(first);
    const timer = setInterval(() => socket.write(more), 50);
    return await restOf(socket).finally(() => clearInterval(timer));
  }

  /** Longer than any of the short times: a connection opened now has been closed. */
  async function untilSlowOnesAreCut(): Promise<void> {
    await dribble(`POST ${SESSIONS} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n`, 'X: y\r\n');
  }

  const fine = async (): Promise<void> => {
    assert.match(await ask(requestHead(`GET ${SESSIONS}?limit=1`, 'Connection: close')), /^HTTP\/1\.1 200 /);
  };

  it('get enough time for a slow line, which does not include the wait for a response', () => {
    const real = createHttpServer(createApp(checkout.app));
    assert.equal(real.headersTimeout, CLIENT_TIMES.headersMs);
    assert.equal(real.requestTimeout, CLIENT_TIMES.requestMs);
    assert.ok(real.headersTimeout >= 10_000 && real.headersTimeout <= 30_000);
    assert.ok(real.requestTimeout >= 30_000 && real.requestTimeout <= 120_000);
    assert.ok(real.timeout > LONGEST_SETTLE_WAIT_MS + 30_000, 'a payment waits that long without traffic');
    assert.equal(real.keepAliveTimeout, 95_000);
  });

  const slow: [what: string, first: () => string, more: string][] = [
    ['that send nothing', () => '', ''],
    ['whose headers never end', () => `${head(`GET ${SESSIONS}`)}\r\n`, 'X-More: 1\r\n'],
    ['whose request line never ends', () => 'GET /c/', 'a'],
    [
      'whose body never ends',
      () => requestHead(`POST ${SESSIONS}`, 'Content-Type: application/json', 'Content-Length: 4000000'),
      ' ',
    ],
    [
      'whose chunks never end',
      () => requestHead(`POST ${SESSIONS}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'),
      '1\r\n \r\n',
    ],
    [
      'whose payment header never ends',
      () => `GET /c/cs_test_1 HTTP/1.1\r\nHost: x\r\nPAYMENT-SIGNATURE: `,
      'e30=',
    ],
  ];
  for (const [what, first, more] of slow) {
    it(`${what} are disconnected, and block no other client`, async () => {
      const before = await CheckoutSession.query(checkout.app.db).resultSize();
      const cut = Promise.all(Array.from({ length: 50 }, () => dribble(first(), more)));
      await Promise.all(Array.from({ length: 10 }, fine));
      for (const answer of await cut) {
        assert.match(answer, /^(HTTP\/1\.1 (408 Request Timeout|400 Bad Request)\r\n|$)/);
        assert.doesNotMatch(answer, / 500 | 200 /);
      }
      assert.equal(await CheckoutSession.query(checkout.app.db).resultSize(), before);
      await eventually(() => assert.equal(poolUse(checkout.app.db).used, 0));
    });
  }

  it('that do not read their response are disconnected', async () => {
    const item = { name: 'x'.repeat(60_000), description: null, images: [], unitAmountCents: 1, quantity: 1 };
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        buildSession(checkout.app.db, checkout.merchant.accountId, {
          lineItems: [{ id: `li_${i}`, ...item }],
        }),
      ),
    );
    const socket = open(silenceServer);
    await once(socket, 'connect');
    const { localPort } = socket;
    const served = new Promise<Socket>((resolve) => {
      silenceServer.on('request', (req) => {
        if (req.socket.remotePort === localPort) resolve(req.socket);
      });
    });
    socket.pause();
    socket.write(requestHead(`GET ${SESSIONS}?limit=100&expand[]=data.line_items`).repeat(5));
    await once(await served, 'close');
    socket.destroy();
    await fine();
  });

  it('stay connected while a payment waits longer than the other limits', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    const verify = checkout.facilitator.verify.holdNext();
    const paying = ask(
      requestHead(`GET /c/${id}`, `PAYMENT-SIGNATURE: ${payment.header}`, 'Connection: close'),
    );
    await checkout.facilitator.waitForCall('verify');
    await untilSlowOnesAreCut();
    verify.release();
    assert.match(await paying, /^HTTP\/1\.1 200 /);
  });

  it('may be idle between two requests', async () => {
    const socket = open();
    socket.write(requestHead(`GET ${SESSIONS}?limit=1`));
    const [first] = await once(socket, 'data');
    assert.match(String(first), /^HTTP\/1\.1 200 /);
    await untilSlowOnesAreCut();
    socket.write(requestHead(`GET ${SESSIONS}?limit=1`, 'Connection: close'));
    assert.match(await restOf(socket), /HTTP\/1\.1 200 /);
  });

  it('leave nothing behind when they disconnect during their body or their wait', async () => {
    const body = requestHead(`POST ${SESSIONS}`, 'Content-Type: application/json', 'Content-Length: 100');
    const ends = [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.resetAndDestroy()];
    await eventually(async () => assert.equal(await connections(), 0));
    for (let round = 0; round < 100; round += 1) {
      const socket = open();
      await once(socket, 'connect');
      socket.write(round % 2 === 0 ? `${body}{"line` : requestHead(`GET ${SESSIONS}?limit=100`));
      ends[round % 3 === 0 ? 0 : 1]?.(socket);
    }
    await fine();
    await eventually(async () => {
      assert.equal(await connections(), 0);
      assert.equal(poolUse(checkout.app.db).used, 0);
    });
  });

  function connections(): Promise<number> {
    return new Promise((resolve) => {
      server.getConnections((_error, count) => resolve(count));
    });
  }

  it('get the responses to pipelined requests in order', async () => {
    const order = '{"line_items":[]}';
    const post = requestHead(
      `POST ${SESSIONS}`,
      'Content-Type: application/json',
      `Content-Length: ${order.length}`,
    );
    const round = [
      requestHead(`GET ${SESSIONS}?limit=1`),
      `${post}${order}`,
      requestHead('GET /c/cs_test_1'),
      requestHead('GET /v1/nothing'),
      requestHead('HEAD /healthz'),
      requestHead('PUT /v1/payments'),
    ].join('');
    const answers = await ask(round.repeat(20) + requestHead('GET /healthz', 'Connection: close'));
    const expected = Array.from({ length: 20 }, () => [200, 400, 404, 404, 200, 405]).flat();
    assert.deepEqual(statusesOf(answers), [...expected, 200]);
    const ids = [...answers.matchAll(/^Request-Id: (\S+)/gim)].map(([, id]) => id);
    assert.equal(new Set(ids).size, 121);
  });
});
