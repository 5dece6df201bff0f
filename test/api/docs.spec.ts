import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { mock } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import request from 'supertest';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { openReferenceApp } from '../support/reference-app.js';

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';

describe('/docs', () => {
  const app = forAllTests(openTestApp);
  const built = forAllTests(() => openReferenceApp(app));
  afterEach(() => mock.restoreAll());

  it('has the policy of the payment page, and nothing inline', async () => {
    const payment = await request(app.server).get('/c/none').set('Accept', BROWSER).expect(404);
    for (const server of [app.server, built.server]) {
      const page = await request(server).get('/docs').set('Accept', BROWSER).expect(200);
      assert.equal(page.get('Content-Type'), 'text/html; charset=utf-8');
      const policy = page.get('Content-Security-Policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
      assert.equal(policy, payment.get('Content-Security-Policy'));
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.equal(page.get('X-Frame-Options'), 'DENY');
      assert.doesNotMatch(page.text, /<script>|<script [^>]*>[^<]|<style|style="| on[a-z]+="|https?:/);
    }
  });

  it('says that the reference is missing when it was not built, and links to its document', async () => {
    const page = await request(app.server).get('/docs').expect(200);
    assert.match(page.text, /id="failure" class="sources" role="alert">/);
    assert.match(page.text, /href="\/openapi\.json"/);
    assert.doesNotMatch(page.text, /\/docs\/assets\//);
  });

  it('names its files by content hash, and sends them as compressed by the build', async () => {
    const { text } = await request(built.server).get('/docs').expect(200);
    const urls = [...text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, url = '']) => url);
    assert.equal(urls.length, 2);
    for (const url of urls) {
      const plain = await download(url, '');
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
      assert.equal(plain.headers.vary, 'Accept-Encoding');
      assert.match(
        `${plain.headers['content-type']}`,
        url.endsWith('.js') ? /^text\/javascript/ : /^text\/css/,
      );
      for (const [encoding, decode] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const packed = await download(url, encoding);
        assert.equal(packed.headers['content-encoding'], encoding);
        assert.equal(Number(packed.headers['content-length']), packed.body.length);
        assert.ok(packed.body.length < plain.body.length / 3);
        assert.ok(decode(packed.body).equals(plain.body));
      }
      const head = await request(built.server).head(url).expect(200);
      assert.ok(Number(head.get('Content-Length')) > 1000);
    }
  });

  it('serves no other file of that folder', async () => {
    const names = await readdir(built.folder);
    const packed = names.find((name) => name.endsWith('.br')) ?? '';
    for (const name of [
      packed,
      'reference.AAAAAAAAAA.js',
      '..%2f..%2fpackage.json',
      '%2e%2e',
      'reference.%00AAAAAAAAA.js',
      '.',
      '',
    ]) {
      await request(built.server).get(`/docs/assets/${name}`).expect(404);
    }
    await request(built.server).get('/docs/assets/%').expect(404);
  });

  it('survives clients that disconnect during a file', async () => {
    const names = await readdir(built.folder);
    const script = names.find((name) => name.endsWith('.js')) ?? '';
    const failed = mock.method(app.logger, 'error');
    const left = Array.from(
      { length: 20 },
      () =>
        new Promise<void>((resolve) => {
          const outgoing = get(`${built.url}/docs/assets/${script}`, (response) => {
            response.once('data', () => outgoing.destroy());
            response.once('close', resolve);
          });
          outgoing.once('error', () => resolve());
        }),
    );
    await Promise.all(left);
    assert.equal(failed.mock.callCount(), 0);
    assert.ok((await download(`/docs/assets/${script}`, '')).body.length > 1_000_000);
  });

  /** Downloads the body undecoded, as sent over the wire. */
  async function download(
    url: string,
    encoding: string,
  ): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
    const outgoing = get(built.url + url, { headers: { 'accept-encoding': encoding } });
    const [response] = await once(outgoing, 'response');
    assert.equal(response.statusCode, 200);
    return { headers: response.headers, body: await buffer(response) };
  }
});
