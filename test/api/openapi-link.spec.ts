import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import request, { type Response } from 'supertest';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { MAX_REQUEST_HEADERS } from '../../shared/limits/bounds.js';
import { newId } from '../../shared/values/ids.js';
import { schemaValidator } from '../support/api-client.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { describeBothKinds } from '../support/kinds.js';
import { answerOf } from '../support/link-answers.js';
import { linkVisits } from '../support/link-visits.js';
import { asResponse, exchange } from '../support/wire.js';

interface Documented {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Content; headers?: object }> }>
  >;
}
interface Content {
  'application/json': { schema: { $ref?: string; anyOf?: { $ref: string }[] } };
  'text/html'?: object;
}

describeBothKinds('what /openapi.json says of payment links', (kind) => {
  const checkout = forAllTests(() => {
    const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
    return openCheckout({ kind, environment: { RECEIPT_SIGNING_KEYS: key.toString('base64') } });
  });
  let documented: Documented;
  before(async () => {
    documented = (await request(checkout.app.server).get('/openapi.json')).body;
  });
  afterEach(() => {
    checkout.facilitator.verify.honest();
    checkout.facilitator.settle.honest();
  });

  function assertDocumented(res: Response, path: string, method = 'get'): void {
    const answer = documented.paths[path]?.[method]?.responses[res.status];
    assert.ok(answer, `${method} ${path} ${res.status} is not documented`);
    if (res.type === 'text/html') assert.ok(answer.content['text/html'], `${res.status} is no page`);
    else {
      const { schema } = answer.content['application/json'];
      const refs = schema.anyOf ?? [{ $ref: schema.$ref ?? '' }];
      const fitting = refs.filter(({ $ref }) => schemaValidator($ref)(res.body));
      assert.equal(fitting.length, 1, `not as documented: ${res.text}`);
    }
    const declared = Object.keys(answer.headers ?? {});
    for (const name of ['PAYMENT-RESPONSE', 'PAYMENT-REQUIRED', 'Retry-After']) {
      if (res.get(name) !== undefined) assert.ok(declared.includes(name), `${res.status} ${name}`);
    }
  }

  const open = async (): Promise<string> => (await checkout.buildSession()).id;
  for (const [answer, visit] of Object.entries(linkVisits(checkout))) {
    it(`matches the response ${answer}`, async () => {
      const res = await visit();
      assert.equal(answerOf(res), answer);
      assertDocumented(res, '/c/{id}');
      assertDocumented(res, '/c/{id}', 'post');
    });
  }

  it('matches a quote of which nothing fits the query', async () => {
    const id = await open();
    for (const query of ['token=NOPE', 'network=eip155:999999']) {
      const res = await request(checkout.app.server).get(`/c/${id}?${query}`);
      assert.deepEqual([res.status, res.body.accepts], [402, []]);
      assertDocumented(res, '/c/{id}');
    }
  });

  it('matches what the connection refuses', async () => {
    const id = await open();
    const headers = Array.from({ length: MAX_REQUEST_HEADERS }, (_, i) => `X-${i}: ${i}\r\n`).join('');
    const bytes: Record<string, string> = {
      '431 headers_too_large': `GET /c/${id} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`,
      '400 malformed_request': `GET /c/${id} HTTP/1.1\r\n\r\n`,
    };
    for (const [answer, sent] of Object.entries(bytes)) {
      const res = asResponse(await exchange(checkout.app.port, sent));
      assert.equal(answerOf(res), answer);
      for (const path of ['/c/{id}', '/c/{id}/status', '/.well-known/jwks.json'])
        if (res.status === 431 || path === '/c/{id}') assertDocumented(res, path);
    }
  });

  it('matches an old paid session with hostile texts of another merchant', async () => {
    const { session } = await buildPaidSession(checkout.app.db, checkout.merchant.accountId, { payer: null });
    const res = await checkout.visit(session.id);
    assertDocumented(res, '/c/{id}');
    assert.deepEqual(Object.keys(res.body), ['status', 'session'], 'the host signs no receipts');
  });

  it('matches the status of a link and the key set', async () => {
    const get = (path: string): request.Test => request(checkout.app.server).get(path);
    assertDocumented(await get(`/c/${await open()}/status`), '/c/{id}/status');
    assertDocumented(await get(`/c/${newId('cs_test_')}/status`), '/c/{id}/status');
    const keys = await get('/.well-known/jwks.json');
    assertDocumented(keys, '/.well-known/jwks.json');
    assert.equal(keys.body.keys.length, 1);
  });

  it('matches no response with an additional field', async () => {
    const { body } = await checkout.visit(await open());
    const fits = schemaValidator('#/components/schemas/PaymentRequired');
    assert.equal(fits(body), true);
    assert.equal(fits({ ...body, metadata: {} }), false);
  });
});
