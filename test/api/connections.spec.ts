import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import express, { type ErrorRequestHandler } from 'express';
import { requireReadable } from '../../api/http/unreadable-request.js';
import { createHttpServer } from '../../api/process/http-server.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import {
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_OF_ADDRESS,
  MAX_REQUEST_HEADERS,
  MAX_UNANSWERED_OF_CONNECTION,
} from '../../shared/limits/bounds.js';
import { assertRefusal } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { asResponse, exchange, openWire, restOf, statusesOf } from '../support/wire.js';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST_HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
/** Security headers that every answer has. */
const SAFE = ['X-Content-Type-Options', 'Content-Security-Policy', 'Strict-Transport-Security'];

function withHeaders(count: number, line = 'GET /healthz'): string {
  const others = Array.from({ length: count - 1 }, (_, i) => `X-${i}: ${i}\r\n`).join('');
  return `${line} HTTP/1.1\r\nHost: x\r\n${others}\r\n`;
}

describe('connections', () => {
  describe('with requests that wait', () => {
    let server: Server;
    let port: number;
    /** Ends the answer of the request that has waited longest. */
    let waiting: (() => void)[] = [];
    let begun = 0;
    const sockets: Socket[] = [];
    before(async () => {
      const app = express();
      app.use((req, res, next) => {
        requireReadable(req, res);
        next();
      });
      app.get('/healthz', (_req, res) => void res.send('fine'));
      app.use((req, res) => {
        begun += 1;
        const answer = (): void => void res.send(req.url);
        if (req.method === 'POST') req.resume().on('end', () => waiting.push(answer));
        else waiting.push(answer);
      });
      app.use(((_error, _req, res, _next) => void res.status(400).end()) satisfies ErrorRequestHandler);
      server = createHttpServer(app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    });
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
      waiting = [];
      begun = 0;
    });
    after(() => {
      // A paused socket does not notice that its client is gone.
      server.closeAllConnections();
      server.close();
    });

    function open(): Socket {
      const socket = openWire(port);
      sockets.push(socket);
      return socket;
    }
    const get = (path: string | number): string => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const post = (body: string): string =>
      `POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const elsewhere = async (): Promise<void> => {
      assert.deepEqual(statusesOf(await exchange(port, LAST_HEALTH)), [200]);
    };

    it(`are read up to ${MAX_UNANSWERED_OF_CONNECTION} requests, and the others when those are answered`, async () => {
      const count = 4 * MAX_UNANSWERED_OF_CONNECTION;
      const socket = open();
      let received = '';
      socket.on('data', (bytes) => {
        received += bytes;
      });
      socket.write(Array.from({ length: count }, (_, i) => get(i)).join(''));
      for (let answered = 0; answered < count; answered += 1) {
        const expected = Math.min(count, answered + MAX_UNANSWERED_OF_CONNECTION);
        await eventually(() => assert.equal(begun, expected));
        if (answered % 50 === 0) await elsewhere();
        waiting.shift()?.();
      }
      await eventually(() => assert.equal(statusesOf(received).length, count));
      const bodies = [...received.matchAll(/\r\n\r\n\/(\d+)/g)].map(([, path]) => Number(path));
      assert.deepEqual(
        bodies,
        Array.from({ length: count }, (_, i) => i),
      );
    });

    it('are not read while so many wait: the client cannot send without end', async () => {
      const socket = open();
      const flood = get('x'.repeat(500)).repeat(2000);
      let isFull = false;
      for (let rounds = 0; rounds < 100 && !isFull; rounds += 1) {
        socket.write(flood);
        await elsewhere();
        // The kernel takes some megabytes for the two sockets; the rest stays with the client.
        isFull = socket.writableLength > 16 * flood.length;
      }
      assert.ok(isFull);
      assert.equal(begun, MAX_UNANSWERED_OF_CONNECTION);
    });

    it('get the whole body of the last request that is read', async () => {
      const socket = open();
      const body = `a\n\nb\r\n\r\n${'c'.repeat(100_000)}`;
      socket.write(get(1).repeat(MAX_UNANSWERED_OF_CONNECTION - 1));
      for (const piece of [post(body).slice(0, 70), post(body).slice(70) + get(2), get(3)])
        socket.write(piece);
      await eventually(() => assert.equal(waiting.length, MAX_UNANSWERED_OF_CONNECTION));
      for (const answer of waiting.splice(0)) answer();
      await eventually(() => assert.equal(waiting.length, 2));
    });

    it('read requests that arrive byte by byte', async () => {
      const socket = open();
      for (const byte of get('one') + post('body') + get('two')) {
        socket.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await eventually(() => assert.equal(waiting.length, 3));
    });

    it('answer what was read before a request that cannot be read, and then that one', async () => {
      const socket = open();
      const answers = restOf(socket);
      socket.write(`${get(1)}${get(2)}no request\r\n\r\n${get(3)}`);
      await eventually(() => assert.equal(waiting.length, 2));
      await elsewhere();
      for (const answer of waiting) answer();
      assert.deepEqual(statusesOf(await answers), [200, 200, 400]);
      assert.equal(begun, 2);
    });
  });

  describe('in number', () => {
    const app = forAllTests(openTestApp);
    const sockets: Socket[] = [];
    afterEach(async () => {
      for (const socket of sockets.splice(0)) socket.destroy();
      await eventually(async () => assert.equal(await count(app.server), 0));
    });

    const count = (server: Server): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, number) => resolve(number)));

    /** The addresses of 127.0.0.0/8 are this machine's on Linux. */
    async function open(number: number, localAddress: string): Promise<void> {
      const before = await count(app.server);
      for (let i = 0; i < number; i += 1) {
        const socket = connect({ port: app.port, host: '127.0.0.1', localAddress }).on('error', () => {});
        sockets.push(socket);
        await once(socket, 'connect');
      }
      await eventually(async () => assert.equal(await count(app.server), before + number));
    }

    it(`are at most ${MAX_CONNECTIONS_OF_ADDRESS} of one address, and another address still gets in`, async () => {
      await open(MAX_CONNECTIONS_OF_ADDRESS, '127.0.0.2');
      const late = connect({ port: app.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
      assert.equal(await restOf(late.on('error', () => {})), '');
      assert.deepEqual(statusesOf(await exchange(app.port, LAST_HEALTH)), [200]);
      sockets.pop()?.destroy();
      await eventually(async () => assert.equal(await count(app.server), MAX_CONNECTIONS_OF_ADDRESS - 1));
      await open(1, '127.0.0.2');
    });

    it('are at most so many in all', async () => {
      assert.equal(app.server.maxConnections, MAX_CONNECTIONS);
      app.server.maxConnections = 10;
      await open(10, '127.0.0.3');
      assert.equal(await restOf(openWire(app.port)), '');
      app.server.maxConnections = MAX_CONNECTIONS;
      assert.deepEqual(statusesOf(await exchange(app.port, LAST_HEALTH)), [200]);
    });

    it('are not counted by address behind a proxy', async () => {
      const proxied = await openTestApp({ TRUST_PROXY: '1' });
      for (let i = 0; i <= MAX_CONNECTIONS_OF_ADDRESS; i += 1) {
        const socket = openWire(proxied.port);
        sockets.push(socket);
        await once(socket, 'connect');
      }
      assert.deepEqual(statusesOf(await exchange(proxied.port, LAST_HEALTH)), [200]);
      await proxied.close();
    });
  });

  describe('to the service', () => {
    const app = forAllTests(openTestApp);

    it(`read ${MAX_REQUEST_HEADERS} headers of a request, and refuse more`, async () => {
      const fine = `${withHeaders(MAX_REQUEST_HEADERS)}${LAST_HEALTH}`;
      assert.deepEqual(statusesOf(await exchange(app.port, fine)), [200, 200]);
      for (const line of ['GET /healthz', 'POST /v1/checkout/sessions', 'GET /c/x', 'HEAD /c/x', 'GET /no']) {
        const answers = await exchange(
          app.port,
          HEALTH + withHeaders(MAX_REQUEST_HEADERS + 1, line) + HEALTH,
        );
        assert.deepEqual(statusesOf(answers), [200, 431], line);
        if (line.startsWith('HEAD')) continue;
        const res = asResponse(answers);
        assertRefusal(res, 431, 'headers_too_large');
        assert.equal(res.get('Connection'), 'close');
        for (const name of SAFE) assert.notEqual(res.get(name), undefined, name);
      }
    });

    it('refuse a head over 32 KiB after the earlier answers, with all that follows read out', async () => {
      const large = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(64 * 1024)}\r\n\r\n`;
      // Had the server closed with input unread, a reset would take the answer away.
      const answers = await exchange(app.port, HEALTH.repeat(3) + large + 'x'.repeat(1024 * 1024));
      assert.deepEqual(statusesOf(answers), [200, 200, 200, 431]);
      const res = asResponse(answers);
      assertRefusal(res, 431, 'headers_too_large');
      for (const name of SAFE) assert.notEqual(res.get(name), undefined, name);
    });

    it('end for a client that sends on and on after a refusal', async () => {
      const socket = openWire(app.port);
      socket.resume();
      socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(40_000)}`);
      const more = setInterval(() => socket.write('x'.repeat(1024 * 1024)), 10);
      await new Promise((resolve) => socket.on('close', resolve));
      clearInterval(more);
    });

    const broken: [what: string, bytes: string][] = [
      ['a line that is no request', 'hello\r\n\r\n'],
      ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n'],
      ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n'],
      [
        'a broken chunk',
        `${HEALTH.slice(0, -2).replace('GET', 'POST')}Transfer-Encoding: chunked\r\n\r\nz\r\n`,
      ],
    ];
    for (const [what, bytes] of broken) {
      it(`answer ${what} with a refusal, and end`, async () => {
        const answers = await exchange(app.port, HEALTH + bytes);
        const [first, second, ...others] = statusesOf(answers);
        assert.equal(first, 200);
        assert.ok(second !== undefined && second >= 400 && second < 500, answers);
        assert.deepEqual(others, []);
        const { error } = asResponse(answers).body;
        assert.equal(typeof error.code, 'string');
        assert.equal(error.request_id, asResponse(answers).get('Request-Id'));
      });
    }

    it('answer a body that breaks off while it is read', async () => {
      const { testKey } = await buildMerchant(app.db);
      const socket = openWire(app.port);
      const answers = restOf(socket);
      socket.write(
        `POST /v1/checkout/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${testKey}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
      );
      const [req] = await once(app.server, 'request');
      await eventually(() => assert.ok(req.listenerCount('error') > 0));
      socket.write('no size\r\n');
      assertRefusal(asResponse(await answers), 400, 'malformed_request');
    });

    it('let a client expect what the service does not know', async () => {
      const odd = LAST_HEALTH.replace('\r\n', '\r\nExpect: nothing\r\n');
      assert.deepEqual(statusesOf(await exchange(app.port, odd)), [200]);
    });
  });
});
