import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { newId } from '../../shared/values/ids.js';
import { type Checkout, openCheckout } from '../support/checkout.js';

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
const MAX_GZIPPED_BYTES = 40 * 1024;

describe('the responses of the page', () => {
  let checkout: Checkout;
  before(async () => {
    checkout = await openCheckout({ worker: false });
  });
  after(async () => {
    await checkout.close();
  });

  async function open(id?: string): Promise<request.Response> {
    return await checkout.visit(id ?? (await checkout.buildSession()).id, { Accept: BROWSER });
  }

  const assetsOf = (html: string): string[] =>
    [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, url = '']) => url);

  it('restrict the browser to what the page needs', async () => {
    for (const page of [await open(), await open(newId('cs_test_'))]) {
      const policy = page.get('Content-Security-Policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.equal(page.get('Referrer-Policy'), 'no-referrer');
      assert.equal(page.get('X-Content-Type-Options'), 'nosniff');
      assert.equal(page.get('Cross-Origin-Opener-Policy'), 'same-origin');
      assert.equal(page.get('X-Frame-Options'), 'DENY');
      assert.equal(page.get('Cache-Control'), 'no-store');
      assert.match(page.get('Vary') ?? '', /Accept, Accept-Language/);
      assert.match(page.get('Strict-Transport-Security') ?? '', /^max-age=31536000/);
      assert.doesNotMatch(page.text, /<script>|<script [^>]*>[^<]|<style|style="| on[a-z]+="/);
    }
  });

  it('set HSTS only when served over https', async () => {
    const plain = await openCheckout({ worker: false, environment: { BASE_URL: 'http://localhost:3000' } });
    const { id } = await plain.buildSession();
    const page = await plain.visit(id, { Accept: BROWSER });
    assert.equal(page.get('Strict-Transport-Security'), undefined);
    await plain.close();
  });

  it('are small, with files that may be cached forever', async () => {
    const page = await open();
    const urls = assetsOf(page.text);
    assert.equal(urls.length, 2);
    let gzipped = gzipSync(page.text).length;
    for (const url of urls) {
      const asset = await request(checkout.app.server).get(url).set('Accept-Encoding', 'gzip').expect(200);
      assert.equal(asset.get('Cache-Control'), 'public, max-age=31536000, immutable');
      assert.equal(asset.get('Content-Encoding'), 'gzip');
      assert.equal(asset.get('Vary'), 'Accept-Encoding');
      gzipped += Number(asset.get('Content-Length'));
    }
    assert.ok(gzipped < MAX_GZIPPED_BYTES, `${gzipped} bytes`);
    await request(checkout.app.server).get('/assets/checkout.AAAAAAAAAA.js').expect(404);
    await request(checkout.app.server).get('/assets/..%2f..%2fpackage.json').expect(404);
  });

  it('load the colour of the merchant from a separate style sheet', async () => {
    await updateAccount(checkout.app.db, checkout.merchant.accountId, { brandColor: '#ffe600' });
    const brand = assetsOf((await open()).text).find((url) => url.includes('brand')) ?? '';
    assert.match(brand, /^\/assets\/brand-ffe600\.[\w-]{8}\.css$/);
    const styles = await request(checkout.app.server).get(brand).expect(200);
    assert.match(styles.text, /--brand:#[0-9a-f]{6}/);
    await request(checkout.app.server)
      .get(brand.replace(/\.[\w-]{8}\./, '.AAAAAAAA.'))
      .expect(404);
    await updateAccount(checkout.app.db, checkout.merchant.accountId, { brandColor: null });
  });

  it('contain no private data of the merchant, nor do the requests of the page', async () => {
    const { id } = await checkout.buildSession({
      metadata: { order: 'only-for-the-merchant' },
      clientReferenceId: 'only-for-the-merchant',
      customerEmail: 'only-for-the-merchant@example.com',
    });
    for (const path of ['', '/status', '/page']) {
      const { text } = await request(checkout.app.server)
        .get(`/c/${id}${path}`)
        .set('Accept', BROWSER)
        .expect(200);
      assert.doesNotMatch(text, /only-for-the/);
    }
  });

  it('are in the language of the buyer', async () => {
    const { id } = await checkout.buildSession();
    for (const [accepted, language, words] of [
      ['de-CH,de;q=0.9,en;q=0.8', 'de', /Mit Ihrer Wallet bezahlen/],
      ['xx, es;q=0.5, fr;q=0.4', 'es', /Pague con su monedero/],
      ['fr', 'fr', /Payez avec votre portefeuille/],
      ['ar-EG', 'ar', /dir="rtl"/],
      ['tlh', 'en', /Pay with your wallet/],
      ['de;q=0, en', 'en', /Pay with your wallet/],
      [`${'x'.repeat(5000)},de`, 'en', /Pay with your wallet/],
    ] as const) {
      const page = await checkout.visit(id, { Accept: BROWSER, 'Accept-Language': accepted });
      assert.equal(page.get('Content-Language'), language);
      assert.match(page.text, words);
    }
  });

  it('always answer polling with 200, outside of the rate limit', async () => {
    const limited = await openCheckout({ worker: false, environment: { RATE_LIMIT_LINK_PER_MINUTE: '3' } });
    const { session } = await buildPaidSession(limited.app.db, limited.merchant.accountId);
    const states = {
      open: (await limited.buildSession()).id,
      processing: (await limited.buildSession({ status: 'processing' })).id,
      complete: session.id,
      expired: (await limited.buildSession({ status: 'expired' })).id,
    };
    const ask = (id: string, path = '/status') => request(limited.app.server).get(`/c/${id}${path}`);
    for (const [status, id] of Object.entries(states)) {
      for (let polls = 0; polls < 5; polls += 1) {
        const { body } = await ask(id).expect(200);
        assert.equal(body.status, status);
        assert.equal(body.payment_status, status === 'complete' ? 'paid' : 'unpaid');
        assert.match(body.revision, /^[\w-]{12}$/);
      }
    }
    await ask(newId('cs_test_')).expect(404);
    await request(limited.app.server).post(`/c/${states.open}/status`).expect(405);
    // Other requests are counted.
    for (const path of ['/transaction', '/images/0', '/page']) await ask(states.open, path);
    await ask(states.open, '').expect(429);
    await request(limited.app.server).post(`/c/${states.open}/transaction`).send({ payer: 'x' }).expect(429);
    await ask(states.open, '/images/0').expect(429);
    await ask(states.open).expect(200);
    await limited.close();
  });

  it('refuse unreadable input', async () => {
    const { id } = await checkout.buildSession();
    const post = (body: string | object) =>
      request(checkout.app.server).post(`/c/${id}/transaction`).type('json').send(body);
    for (const body of ['{', '[]', {}, { payer: 'x' }, { payer: 1 }, 'x'.repeat(5000)]) {
      const res = await post(body).expect(400);
      assert.equal(res.body.error.code, 'invalid_payment_payload');
    }
    const pay = await request(checkout.app.server).post(`/c/${id}/pay`).expect(200);
    assert.deepEqual(pay.body, { outcome: 'failed', code: 'invalid_payment_payload' });
  });
});
