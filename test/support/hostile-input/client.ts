import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type RequestOptions,
  request,
  type Server,
} from 'node:http';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { buildMerchant, type Merchant } from '../../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import type { Knex } from '../../../shared/db/knex.js';
import { openTestApp } from '../app.js';
import { MARK } from '../fuzz/hostile-values.js';
import { SESSIONS } from '../orders.js';
import { openWire, restOf } from '../wire.js';
import { FORM_TYPE, JSON_TYPE } from './order.js';

/** A web process whose log is captured, with a client that sends requests unchanged for a merchant. */
interface HostileClient {
  server: Server;
  port: number;
  db: Knex;
  shop: Merchant;
  logged: string[];
  /** Sends with the test key of the merchant by default. Fails if the response contains it. */
  send(sent: Sent): Promise<Answer>;
  /** JSON by default. */
  post(body: string | Buffer, headers?: Record<string, string>, path?: string): Promise<Answer>;
  json(body: object, path?: string): Promise<Answer>;
  form(body: string, path?: string): Promise<Answer>;
  /** Starts a request, which the caller writes and ends. */
  begin(options: RequestOptions): { outgoing: ClientRequest; answer: Promise<Answer> };
  /**
   * Sends raw bytes and returns everything received until the server closes the connection. `end` half-closes the
   * connection at once, which Node treats as an abort of an unanswered request.
   */
  exchange(bytes: string | Buffer, options?: { end?: boolean }): Promise<string>;
  /** The head of a request with the key of the merchant. */
  head(line: string, ...headers: string[]): string;
  /** The head of a request with a JSON body that creates a session. */
  postHead(...headers: string[]): string;
  sessionCount(): Promise<number>;
  /** Called after each test: nothing personal or secret was logged, and no prototype changed. */
  assertUnharmed(): void;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  key?: string | undefined;
}

export async function openHostileClient(): Promise<HostileClient> {
  const logged: string[] = [];
  const log = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged.push(chunk.toString('utf8'));
      done();
    },
  });
  const app = await openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', LOG_LEVEL: 'trace' }, log);
  const { server, port, db } = app;
  const shop = await buildMerchant(db);
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });

  const client: HostileClient = {
    server,
    port,
    db,
    shop,
    logged,
    begin(options) {
      // node:http neither parses nor corrects its output.
      const outgoing = request({ host: '127.0.0.1', port, agent, ...options });
      // A server that has answered may stop reading the body.
      outgoing.on('error', () => {});
      return { outgoing, answer: answerTo(outgoing, [shop.testKey, shop.liveKey]) };
    },
    async send({ method = 'GET', path = SESSIONS, headers = {}, body, ...rest }) {
      const key = 'key' in rest ? rest.key : shop.testKey;
      const { outgoing, answer } = client.begin({
        method,
        path,
        headers: {
          ...(key !== undefined && { Authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
      });
      outgoing.end(body);
      return await answer;
    },
    post: (body, headers = JSON_TYPE, path = SESSIONS) =>
      client.send({ method: 'POST', path, headers, body }),
    json: (body, path) => client.post(JSON.stringify(body), JSON_TYPE, path),
    form: (body, path) => client.post(body, FORM_TYPE, path),
    async exchange(bytes, { end = false } = {}) {
      const socket = openWire(port);
      if (end) socket.end(bytes);
      else socket.write(bytes);
      return await restOf(socket);
    },
    head: (line, ...headers) =>
      [
        ...[`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${shop.testKey}`],
        ...[...headers, '', ''],
      ].join('\r\n'),
    postHead: (...headers) => client.head(`POST ${SESSIONS}`, 'Content-Type: application/json', ...headers),
    sessionCount: async () =>
      await CheckoutSession.query(db).where({ accountId: shop.accountId }).resultSize(),
    assertUnharmed() {
      assert.equal(Reflect.get({}, 'polluted'), undefined);
      const text = logged.splice(0).join('');
      for (const secret of [MARK, shop.testKey, shop.liveKey, 'whsec_']) {
        assert.ok(!text.includes(secret), `a log line holds ${secret}:\n${lineWith(text, secret)}`);
      }
    },
    async close() {
      agent.destroy();
      await app.close();
    },
  };
  return client;
}

async function answerTo(outgoing: ClientRequest, secrets: readonly string[]): Promise<Answer> {
  const [answer] = await once(outgoing, 'response');
  const text = (await buffer(answer)).toString('utf8');
  for (const secret of secrets) assert.ok(!text.includes(secret), text);
  return { status: answer.statusCode, headers: answer.headers, text };
}

function lineWith(text: string, part: string): string {
  return text.split('\n').find((line) => line.includes(part)) ?? '';
}
