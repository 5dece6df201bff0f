import assert from 'node:assert/strict';
import request from 'supertest';
import { inline } from '../../api/checkout-page/inlined.js';
import { BUYER_ERRORS } from '../../api/errors/buyer-errors.js';
import { ERROR_CATALOG } from '../../api/errors/catalog.js';
import { describeFailure } from '../../shared/x402/failure-codes.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

describe('/docs/errors', () => {
  const app = forAllTests(openTestApp);
  const page = forAllTests(() => request(app.server).get('/docs/errors').expect(200));
  const rowOf = (id: string): string =>
    page.text.split('\n').find((line) => line.startsWith(`<dt id="${id}">`)) ?? assert.fail(id);

  it('has a row for each code of /v1, where the doc_url of an error points', async () => {
    for (const [code, { status, type }] of Object.entries(ERROR_CATALOG)) {
      assert.ok(rowOf(code).includes(`<code>${code}</code> ${status} ${type}</dt><dd>`), code);
      assert.match(rowOf(code), /[.]<\/dd>$/);
    }
    assert.match(rowOf('internal_error'), / 500 api_error</);
    const { body } = await request(app.server).get('/v1/payments').expect(401);
    assert.equal(body.error.doc_url, `${app.config.baseUrl}/docs/errors#api_key_missing`);
  });

  it('has a row for each code of a link, and for each code of a payment that failed', () => {
    for (const [code, status] of Object.entries(BUYER_ERRORS))
      assert.ok(rowOf(`link-${code}`).includes(` ${status}</dt>`), code);
    // The payment may have been taken: only the answer knows.
    assert.match(rowOf('link-signature_already_used'), /only if <code>message<\/code> asks for one/);
    const failures = [...page.text.matchAll(/<dt id="payment-(\w+)">/g)].map(([, code = '']) => code);
    assert.equal(new Set(failures).size, failures.length);
    for (const known of ['insufficient_funds', 'outcome_unknown', 'payment_failed'])
      assert.ok(failures.includes(known), known);
    for (const code of failures) assert.equal(describeFailure(code).code, code);
  });

  it('needs no script, and its policy allows none', () => {
    assert.doesNotMatch(page.text, /<script|style="| on[a-z]+="|https?:/);
    const style = /<style>(.*)<\/style>/s.exec(page.text)?.[1] ?? '';
    const policy = page.get('Content-Security-Policy') ?? '';
    assert.match(policy, /script-src 'none'/);
    assert.ok(policy.includes(`style-src ${inline('style', style).source};`));
  });
});
