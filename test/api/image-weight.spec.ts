import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import request from 'supertest';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import {
  IMAGE_BYTES_IN_FLIGHT,
  IMAGE_BYTES_SENT_TO_ADDRESS,
  MAX_IMAGE_BYTES,
  MAX_IMAGE_FETCHES,
  MAX_IMAGE_FETCHES_OF_ACCOUNT,
} from '../../shared/limits/bounds.js';
import { newId } from '../../shared/values/ids.js';
import { type Checkout, openCheckout } from '../support/checkout.js';

const ACCOUNTS = 8;
const HOSTS = 70;
/** Connections that close in the same moment are counted as closed after so many turns; a slow image takes seconds. */
const EVENT_LOOP_TURNS = 200;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
/** All but the end of an image of the largest size. */
const DRIPPED = Buffer.concat([PNG, Buffer.alloc(MAX_IMAGE_BYTES - 100)]);

describe('slowly served images', () => {
  let checkout: Checkout;
  let server: Server;
  let port: number;
  /** Open requests by path, which begins with the owner. */
  const open = new Map<string, number>();
  let mostAtOnce = 0;
  let mostOfOne = 0;

  before(async () => {
    server = createServer((req, res) => {
      if (req.url === '/good.png') {
        res.end(PNG);
        return;
      }
      const [, owner = ''] = (req.url ?? '').split('/');
      open.set(owner, (open.get(owner) ?? 0) + 1);
      void countAfterClosings(owner);
      res.once('close', () => open.set(owner, (open.get(owner) ?? 0) - 1));
      res.write(DRIPPED);
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    ({ port } = server.address() as AddressInfo);
    checkout = await openCheckout({ worker: false, environment: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' } });
  });
  after(async () => {
    await checkout.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** The service opens a connection before it closes the connection whose slot is reused; both happen in this process. */
  async function countAfterClosings(owner: string): Promise<void> {
    for (let turn = 0; turn < EVENT_LOOP_TURNS; turn += 1) await setImmediate();
    const atOnce = [...open.values()].reduce((sum, count) => sum + count, 0);
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    mostOfOne = Math.max(mostOfOne, open.get(owner) ?? 0);
  }

  const address = (path: string, host = 1): string => `http://127.0.0.${host}:${port}/${path}`;

  async function sessionOf(accountId: string, images: string[]): Promise<string> {
    const item = { id: newId('li_'), name: 'Coffee', description: null, unitAmountCents: 1, quantity: 1 };
    return (await buildSession(checkout.app.db, accountId, { lineItems: [{ ...item, images }] })).id;
  }

  it('are fetched with a total limit and a lower limit per account, without delaying others', async () => {
    const paths: string[] = [];
    for (let account = 0; account < ACCOUNTS; account += 1) {
      const { accountId } = await buildMerchant(checkout.app.db);
      const images = Array.from({ length: 50 }, (_, n) => address(`${account}/${n}.png`, 1 + (n % HOSTS)));
      const id = await sessionOf(accountId, images);
      // These accounts use up all slots but the reserve for others.
      if (account * MAX_IMAGE_FETCHES_OF_ACCOUNT < MAX_IMAGE_FETCHES)
        paths.push(...images.map((_, n) => `/c/${id}/images/${n}`));
    }
    const dripped = paths.map((path) => request(checkout.app.server).get(path));
    const answers = Promise.all(dripped);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const good = await sessionOf(checkout.merchant.accountId, [address('good.png')]);
    const res = await request(checkout.app.server).get(`/c/${good}/images/0`);
    assert.deepEqual([res.status, res.type], [200, 'image/png']);
    for (const { status, headers, type } of await answers) {
      assert.equal(type, 'image/gif');
      if (status === 503) assert.equal(headers['retry-after'], '5');
      else assert.equal(status, 200);
    }
    assert.ok(mostOfOne <= MAX_IMAGE_FETCHES_OF_ACCOUNT, `${mostOfOne} of one account`);
    assert.ok(mostAtOnce <= MAX_IMAGE_FETCHES, `${mostAtOnce} at once`);
    assert.ok(IMAGE_BYTES_IN_FLIGHT < MAX_IMAGE_FETCHES * MAX_IMAGE_BYTES);
  });

  it("leave another merchant's at the same host, and at the same address, alone", async () => {
    const { accountId } = await buildMerchant(checkout.app.db);
    const slow = Array.from({ length: 50 }, (_, n) => address(`shared/${n}.png`, 99));
    const hog = await sessionOf(accountId, [...slow, address('good.png', 99)]);
    const answers = Promise.all(
      [...slow.keys(), slow.length].map((n) => request(checkout.app.server).get(`/c/${hog}/images/${n}`)),
    );
    await eventually(() => assert.ok((open.get('shared') ?? 0) > 0));
    const good = await sessionOf(checkout.merchant.accountId, [address('good.png', 99)]);
    const res = await request(checkout.app.server).get(`/c/${good}/images/0`);
    assert.deepEqual([res.status, res.type], [200, 'image/png']);
    await answers;
  });

  it('hold memory while they are sent to an address, up to its limit', () => {
    const { images } = checkout.app;
    const image = () => ({ type: 'image/png', bytes: Buffer.alloc(MAX_IMAGE_BYTES) });
    const share = IMAGE_BYTES_SENT_TO_ADDRESS / MAX_IMAGE_BYTES;
    const held = Array.from({ length: share }, () => images.takeToSend(image(), 'acct_1', 'slow'));
    assert.ok(held.every((release) => release !== undefined));
    assert.equal(images.takeToSend(image(), 'acct_2', 'slow'), undefined);
    assert.equal(images.takeToSend(image(), 'acct_1', 'quick'), undefined);
    const shown = image();
    // One image for many buyers is there once.
    const all = Array.from({ length: 100 }, (_, n) => images.takeToSend(shown, 'acct_2', `${n}`));
    assert.ok(all.every((release) => release !== undefined));
    let others = 0;
    while (others < 100 && images.takeToSend(image(), `acct_${3 + others}`, `other ${others}`) !== undefined)
      others += 1;
    assert.equal(others, 3);
    held[0]?.();
    assert.ok(images.takeToSend(image(), 'acct_0', 'slow'));
  });
});
