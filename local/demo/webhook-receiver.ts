import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Closable } from '../../shared/process/shutdown.js';
import { verifyWebhook } from './verify-webhook.js';

/** A merchant's webhook receiver: verifies events and prints them. */
export interface WebhookReceiver extends Closable {
  url: string;
  /** Until the secret is set, deliveries are answered with 503, so that they are retried. */
  setSecret(secret: string): void;
}

interface WebhookReceiverOptions {
  /** The port of the last start, when it is free: pending deliveries have its URL. */
  preferredPort: number;
  print(line: string): void;
}

const HOST = '127.0.0.1';
const PATH = '/webhooks';
const MAX_BYTES = 1024 * 1024;

export async function startWebhookReceiver(options: WebhookReceiverOptions): Promise<WebhookReceiver> {
  const { preferredPort, print } = options;
  let secret: string | undefined;
  const server = createServer(async (request, response) => {
    const answer = (status: number): void => {
      response.writeHead(status).end();
    };
    if (request.method !== 'POST' || request.url !== PATH) return answer(404);
    if (secret === undefined) return answer(503);
    const body = await readText(request);
    if (body === undefined) return answer(400);
    const event = verifyWebhook(body, request.headers, secret, Math.floor(Date.now() / 1000));
    if (typeof event === 'string') {
      print(`webhook refused: ${event}`);
      return answer(400);
    }
    print(`webhook ${event.type} ${event.id} for ${event.objectId} (signature verified)`);
    answer(200);
  });
  const port = (await listens(server, preferredPort)) || (await listens(server, 0));
  return {
    url: `http://${HOST}:${port}${PATH}`,
    setSecret(value) {
      secret = value;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Listens and returns the port, or 0 when it is taken. */
function listens(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve) => {
    const fail = (): void => resolve(0);
    server.once('error', fail);
    server.listen(port, HOST, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Undefined when the body is too long or was cut off. */
async function readText(chunks: AsyncIterable<Buffer>): Promise<string | undefined> {
  const read: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > MAX_BYTES) return undefined;
      read.push(chunk);
    }
    return Buffer.concat(read).toString('utf8');
  } catch {
    return undefined;
  }
}
