import assert from 'node:assert/strict';
import express from 'express';
import request, { type Response } from 'supertest';
import { LANGUAGES } from '../../../api/checkout-page/language.js';
import { pageAssets } from '../../../api/checkout-page/page-assets.js';
import type { Deps } from '../../../api/deps/deps.js';
import { BUYER_ERRORS, type BuyerErrorCode } from '../../../api/errors/buyer-errors.js';
import { sendErrorPage } from '../../../api/payment-link/http/page.js';

const AGAIN = 'This page looks again by itself';

describe('an error page', () => {
  const deps = { config: {}, pageAssets: pageAssets(new Map()) } as unknown as Deps;

  async function ask(code: BuyerErrorCode, query = ''): Promise<Response> {
    const app = express();
    app.use((_req, res) => sendErrorPage(deps, res, code));
    return await request(app).get(`/c/cs_test_1${query}`);
  }

  it('reloads itself without scripts when the service is unavailable, and claims nothing about the payment', async () => {
    const page = await ask('payment_service_unavailable');
    assert.equal(page.status, 503);
    assert.equal(page.get('Refresh'), '5');
    assert.ok(page.text.includes(AGAIN));
    assert.doesNotMatch(page.text, /[Nn]othing was taken|<script/);
  });

  for (const code of Object.keys(BUYER_ERRORS) as BuyerErrorCode[]) {
    it(`announces a reload only when it reloads, for ${code}`, async () => {
      const page = await ask(code);
      assert.equal(page.status, BUYER_ERRORS[code]);
      assert.equal(page.get('Refresh') !== undefined, page.text.includes(AGAIN));
      assert.doesNotMatch(page.text, /[Nn]othing was taken/);
    });
  }

  for (const { tag, words } of LANGUAGES) {
    it(`is in ${tag} when the URL has it`, async () => {
      const page = await ask('resource_missing', `?lang=${tag}`);
      assert.ok(page.text.includes(`lang="${tag}"`));
      assert.ok(page.text.includes(words.notFoundText));
      assert.equal(page.get('Content-Language'), tag);
    });
  }
});
