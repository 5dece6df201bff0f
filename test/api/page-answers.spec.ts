import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import request from 'supertest';
import { LANGUAGES } from '../../api/checkout-page/language.js';
import { walletChain } from '../../api/checkout-page/wallet-chains.js';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { NETWORKS, OFFERED_TOKENS } from '../../shared/chains/networks/networks.js';
import { newId } from '../../shared/values/ids.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
const MAX_BYTES = 26 * 1024;

describe('the responses of the page', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));

  async function open(id?: string): Promise<request.Response> {
    return await checkout.visit(id ?? (await checkout.buildSession()).id, { Accept: BROWSER });
  }

  /** The sources of these elements' texts in a content security policy. */
  const hashesOf = (html: string, tag: string): string[] =>
    [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
      ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
    );
  const policyOf = (page: request.Response): string => page.get('Content-Security-Policy') ?? '';

  it('restrict the browser to what the page needs', async () => {
    for (const page of [await open(), await open(newId('cs_test_'))]) {
      const policy = policyOf(page);
      assert.match(
        policy,
        /^default-src 'none'; script-src '[^' ]+'; style-src '[^' ]+'; img-src 'self' data:; /,
      );
      assert.match(
        policy,
        /; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.equal(page.get('Referrer-Policy'), 'no-referrer');
      assert.equal(page.get('X-Content-Type-Options'), 'nosniff');
      assert.equal(page.get('Cross-Origin-Opener-Policy'), 'same-origin');
      assert.equal(page.get('X-Frame-Options'), 'DENY');
      assert.equal(page.get('Cache-Control'), 'no-store');
      assert.match(page.get('Vary') ?? '', /Accept, Accept-Language/);
      assert.match(page.get('Strict-Transport-Security') ?? '', /^max-age=31536000/);
      assert.doesNotMatch(page.text, /<script [^>]|<style [^>]| style="| on[a-z]+="/);
    }
  });

  it('leave autocomplete from radio buttons, where HTML does not allow it', async () => {
    const { text } = await open();
    const buttons = text.match(/<input type="radio"[^>]*>/g) ?? [];
    assert.ok(buttons.length > 1);
    for (const button of buttons) assert.doesNotMatch(button, /autocomplete/i);
  });

  it('set HSTS only when served over https', async () => {
    const plain = await openCheckout({ worker: false, environment: { BASE_URL: 'http://localhost:3000' } });
    const { id } = await plain.buildSession();
    const page = await plain.visit(id, { Accept: BROWSER });
    assert.equal(page.get('Strict-Transport-Security'), undefined);
    await plain.close();
  });

  it('allow the script and the styles that they hold by hash, and no others', async () => {
    const id = (await checkout.buildSession()).id;
    for (const [brandColor, styles] of [
      [null, 1],
      ['#ffe600', 2],
    ] as const) {
      await updateAccount(checkout.app.db, checkout.merchant.accountId, { brandColor });
      const page = await open(id);
      const [scriptSources, styleSources] = [hashesOf(page.text, 'script'), hashesOf(page.text, 'style')];
      assert.deepEqual([scriptSources.length, styleSources.length], [1, styles]);
      assert.ok(policyOf(page).includes(`; script-src ${scriptSources.join(' ')}; `), policyOf(page));
      assert.ok(policyOf(page).includes(`; style-src ${styleSources.join(' ')}; `), policyOf(page));
      assert.equal(page.text.includes('--brand:#ffe600'), brandColor !== null);
      assert.doesNotMatch(page.text, /(src|href)="\/assets\//);
      // An open page has them already.
      const again = await request(checkout.app.server).get(`/c/${id}/page`).expect(200);
      assert.doesNotMatch(again.text, /<script|<style/);
      assert.match(policyOf(again), /script-src 'self'; style-src 'self'/);
    }
    await updateAccount(checkout.app.db, checkout.merchant.accountId, { brandColor: null });
  });

  it('are small, compressed in either way, and kept nowhere', async () => {
    const { id } = await checkout.buildSession();
    for (const encoding of ['br', 'gzip']) {
      const page = await checkout.visit(id, { Accept: BROWSER, 'Accept-Encoding': encoding });
      assert.equal(page.get('Content-Encoding'), encoding);
      assert.equal(page.get('Cache-Control'), 'no-store');
      const bytes = Number(page.get('Content-Length'));
      assert.ok(bytes > 10_000 && bytes < MAX_BYTES, `${bytes} bytes`);
    }
  });

  const liveTokens = OFFERED_TOKENS.filter(({ network }) => !network.testnet);
  for (const { tag } of LANGUAGES) {
    it(`take 26 KB with 100 items, a colour and all networks of live mode, headers included, in ${tag}`, async () => {
      const { accountId } = checkout.merchant;
      await updateAccount(checkout.app.db, accountId, { brandColor: '#3366cc' });
      const item = {
        description: 'Whole beans, 250 g',
        images: [],
        unitAmountCents: 123_456_789,
        quantity: 3,
      };
      const lineItems = Array.from({ length: 100 }, (_, index) => ({
        ...item,
        id: newId('li_'),
        name: `Roast number ${index + 1}`,
      }));
      const { id } = await checkout.buildSession({ lineItems, livemode: true });
      const asked = { Accept: BROWSER, 'Accept-Encoding': 'br', 'Accept-Language': tag };
      const page = await checkout.visit(id, asked);
      assert.equal(page.get('Content-Language'), tag);
      assert.equal(page.text.split('name="entry"').length - 1, liveTokens.length);
      const headers = Object.entries(page.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const bytes = headers.join('').length + Number(page.get('Content-Length'));
      assert.ok(bytes > 20_000 && bytes <= MAX_BYTES, `${bytes} bytes`);
      await updateAccount(checkout.app.db, accountId, { brandColor: null });
    });
  }

  it('of the networks for wallets that do not know one have each EVM network', async () => {
    const res = await request(checkout.app.server).get('/assets/wallet-chains.json').expect(200);
    assert.match(res.get('Cache-Control') ?? '', /max-age=3600/);
    const evm = NETWORKS.filter((network) => network.family === 'evm');
    assert.deepEqual(
      res.body,
      Object.fromEntries(evm.map((network) => [`0x${network.chainId.toString(16)}`, walletChain(network)])),
    );
  });

  it('of errors have a style sheet that may be kept forever', async () => {
    const { text } = await open(newId('cs_test_'));
    const [, url = ''] = /<link rel="stylesheet" href="(\/assets\/page\.[\w-]{10}\.css)">/.exec(text) ?? [];
    const { server } = checkout.app;
    const style = await request(server).get(url).set('Accept-Encoding', 'gzip').expect(200);
    assert.equal(style.get('Cache-Control'), 'public, max-age=31536000, immutable');
    assert.equal(style.get('Content-Encoding'), 'gzip');
    assert.equal(style.get('Vary'), 'Accept-Encoding');
    for (const none of ['checkout.AAAAAAAAAA.js', 'brand-ffe600.AAAAAAAA.css', '..%2f..%2fpackage.json'])
      await request(server).get(`/assets/${none}`).expect(404);
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
    for (const [accepted, language, words, query = ''] of [
      ['de-CH,de;q=0.9,en;q=0.8', 'de', /Mit Ihrer Wallet bezahlen/],
      ['xx, es;q=0.5, fr;q=0.4', 'es', /Pague con su monedero/],
      ['fr', 'fr', /Payez avec votre portefeuille/, '?lang=xx&lang=de'],
      ['ar-EG', 'ar', /dir="rtl"/],
      ['tlh', 'en', /Pay with your wallet/],
      ['de;q=0, en', 'en', /Pay with your wallet/],
      [`${'x'.repeat(5000)},de`, 'en', /Pay with your wallet/],
    ] as const) {
      const page = await checkout.visit(id + query, { Accept: BROWSER, 'Accept-Language': accepted });
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
    assert.deepEqual(pay.body, {
      outcome: 'failed',
      code: 'invalid_payment_payload',
      cause: 'failedChanged',
    });
  });
});
