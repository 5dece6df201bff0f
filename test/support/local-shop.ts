import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { verifyWebhook } from '../../local/demo/verify-webhook.js';

/** A shop on this machine, as its developer has it: it verifies each event with Stripe's SDK. */
export interface LocalShop {
  url: string;
  /** The ids that were verified, in the order of their arrival. */
  ids: string[];
  bodies: string[];
  problems: unknown[];
  secret: string;
  status: number;
  close(): Promise<void>;
}

export async function openLocalShop(port = 0): Promise<LocalShop> {
  const { webhooks } = new Stripe('svc_ck_test_none');
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    if (request.method !== 'POST') return void response.writeHead(200).end('a shop');
    try {
      const event = webhooks.constructEvent(body, String(request.headers['service-signature']), shop.secret);
      const also = verifyWebhook(body, request.headers, shop.secret, Math.floor(Date.now() / 1000));
      assert.equal(typeof also === 'object' && also.id, event.id);
      shop.ids.push(event.id);
      shop.bodies.push(body);
      response.writeHead(shop.status).end();
    } catch (error) {
      shop.problems.push(error);
      response.writeHead(400).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const shop: LocalShop = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    ids: [],
    bodies: [],
    problems: [],
    secret: '',
    status: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return shop;
}
