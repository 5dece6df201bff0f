import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Serves `answer(body)` for each request; returns the URL. */
export async function serveLocally(answer: (body: string) => unknown): Promise<string> {
  const server = createServer({ keepAliveTimeout: 300_000 }, async (request, response) => {
    const answered = await answer(await text(request));
    response.end(typeof answered === 'string' ? answered : JSON.stringify(answered));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
