import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Response } from 'supertest';
import { createApp } from '../../api/app.js';
import { createHttpServer } from '../../api/process/http-server.js';
import type { TestApp } from './app.js';
import { asResponse, exchange } from './wire.js';

const IMPATIENT = { headersMs: 100, requestMs: 200, silenceMs: 60_000, checkEveryMs: 20 };

/** The last answer to bytes that no client would send. */
export async function answerTo({ port }: Pick<TestApp, 'port'>, bytes: string): Promise<Response> {
  return asResponse(await exchange(port, bytes));
}

/** The answer to a head that never ends, from a server that does not wait long. */
export async function unfinished(app: TestApp): Promise<Response> {
  const server = createHttpServer(createApp(app), IMPATIENT).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await answerTo(server.address() as AddressInfo, 'GET / HTTP/1.1\r\nHost: x\r\n');
  server.close();
  return answer;
}
