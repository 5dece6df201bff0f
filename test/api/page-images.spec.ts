import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import request, { type Response } from 'supertest';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { newId } from '../../shared/values/ids.js';
import { type Checkout, openCheckout } from '../support/checkout.js';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]);
const NOTHING_BYTES = 42;

/** The service fetches merchants' images, but only from URLs that sessions hold. */
describe('merchants’ images', () => {
  let checkout: Checkout;
  let guarded: Checkout;
  let server: Server;
  let base: string;
  const fetched: string[] = [];

  before(async () => {
    server = createServer((req, res) => {
      const path = req.url ?? '';
      fetched.push(path);
      if (path === '/redirect') res.writeHead(302, { location: '/good.png' }).end();
      else if (path === '/missing.png') res.writeHead(404).end(PNG);
      else if (path === '/svg') res.writeHead(200, { 'content-type': 'image/png' }).end('<svg xmlns="x"/>');
      else if (path === '/page') res.writeHead(200, { 'content-type': 'image/png' }).end('<html></html>');
      else if (path === '/large.png') res.writeHead(200).end(Buffer.concat([PNG, Buffer.alloc(3_000_000)]));
      else if (path === '/cut.png')
        res.writeHead(200, { 'content-length': '500' }).write(PNG, () => res.destroy());
      else res.writeHead(200, { 'content-type': 'text/html' }).end(PNG);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    checkout = await openCheckout({ worker: false, environment: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' } });
    guarded = await openCheckout({ worker: false });
  });
  after(async () => {
    await checkout.close();
    await guarded.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function fetchImage(images: string[], name = '0', by = checkout): Promise<Response> {
    const item = { id: newId('li_'), name: 'Coffee', description: null, unitAmountCents: 1, quantity: 1 };
    const { id } = await by.buildSession({ lineItems: [{ ...item, images }] });
    return await request(by.app.server).get(`/c/${id}/images/${name}`);
  }

  function assertNothing(res: Response): void {
    assert.deepEqual([res.status, res.type, res.body.length], [200, 'image/gif', NOTHING_BYTES]);
    assert.equal(res.get('Cache-Control'), 'private, max-age=60');
  }

  it('have their detected type and may be cached for an hour', async () => {
    const res = await fetchImage([`${base}/good.png`]);
    assert.deepEqual([res.status, res.type], [200, 'image/png']);
    assert.ok(PNG.equals(res.body));
    assert.equal(res.get('Cache-Control'), 'private, max-age=3600');
    assert.equal(res.get('X-Content-Type-Options'), 'nosniff');
    assert.equal(res.get('Content-Security-Policy'), "default-src 'none'; sandbox");
  });

  it('are fetched once', async () => {
    const url = `${base}/once.png`;
    await Promise.all([fetchImage([url]), fetchImage([url]), fetchImage([url])]);
    await fetchImage([url]);
    assert.equal(fetched.filter((path) => path === '/once.png').length, 1);
  });

  it('are numbered across all items; the logo is named logo', async () => {
    assert.equal((await fetchImage([`${base}/a.png`, `${base}/b.png`], '1')).status, 200);
    assert.ok(fetched.includes('/b.png') && !fetched.includes('/a.png'));
    assert.equal((await fetchImage([], 'logo')).status, 404);
    await updateAccount(checkout.app.db, checkout.merchant.accountId, { logoUrl: `${base}/logo.png` });
    assert.equal((await fetchImage([], 'logo')).type, 'image/png');
  });

  for (const name of ['1', '-1', '01', '1e0', 'x', '__proto__', '99999']) {
    it(`are 404 for the number ${name}`, async () => {
      assert.equal((await fetchImage([`${base}/good.png`], name)).status, 404);
    });
  }

  for (const path of ['redirect', 'missing.png', 'svg', 'page', 'large.png', 'cut.png']) {
    it(`are replaced by an empty pixel: ${path}`, async () => {
      assertNothing(await fetchImage([`${base}/${path}`]));
    });
  }

  it('are not fetched through redirects', async () => {
    assert.ok(!fetched.includes('/good.png?redirected'));
    const before = fetched.filter((path) => path === '/good.png').length;
    assertNothing(await fetchImage([`${base}/redirect?again`.replace('?again', '')]));
    assert.equal(fetched.filter((path) => path === '/good.png').length, before);
  });

  it('are never fetched from private networks', async () => {
    const { port } = new URL(base);
    const count = fetched.length;
    for (const url of [
      `${base}/private.png`,
      `https://127.0.0.1:${port}/private.png`,
      `https://localhost:${port}/private.png`,
      `https://[::1]:${port}/private.png`,
      'https://169.254.169.254/latest/meta-data',
      'https://2130706433/private.png',
      'file:///etc/passwd',
    ]) {
      assertNothing(await fetchImage([url], '0', guarded));
    }
    assert.equal(fetched.length, count);
  });
});
