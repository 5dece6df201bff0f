import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import request from 'supertest';
import { privateKeyToAccount } from 'viem/accounts';
import { isKnownToStockClients } from '../../api/docs/llms-text.js';
import { BUYER_ERRORS } from '../../api/errors/buyer-errors.js';
import { EVM_BUYER_KEY, SOLANA_BUYER_KEY } from '../../lab/sandbox/networks/wallets.js';
import { fromBase58 } from '../../lab/world/chains/base58.js';
import { startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { OFFERED_TOKENS } from '../../shared/chains/networks/networks.js';
import { EVENT_TYPES } from '../../shared/webhooks/event-types.js';
import { openTestApp } from '../support/app.js';
import { FAILURE_CODES } from '../support/failure-codes.js';
import { forAllTests } from '../support/hooks.js';

describe('/llms.txt', () => {
  const facilitator = forAllTests(startFacilitator);
  const app = forAllTests(() => openTestApp({ FACILITATOR_URL: facilitator.url }));
  let text: string;
  before(async () => {
    const res = await request(app.server).get('/llms.txt').expect(200);
    assert.equal(res.get('Content-Type'), 'text/plain; charset=utf-8');
    text = res.text;
  });

  it('is short Markdown in the form that agents expect', () => {
    assert.match(text, /^# \S.*\n\n> https:\/\/pay\.example is /);
    assert.ok(text.length < 8000, `${text.length} characters`);
    assert.doesNotMatch(text, /undefined|\[object|\bnull\b/);
  });

  it('contains absolute URLs', () => {
    const paths = [...text.matchAll(/https:\/\/pay\.example(\/[\w./-]+)/g)].map(([, name]) => name);
    for (const name of ['/c/', '/v1/keys', '/openapi.json', '/docs', '/mcp', '/.well-known/jwks.json']) {
      assert.ok(paths.includes(name), name);
    }
  });

  it('links to existing paths', async () => {
    for (const name of ['/openapi.json', '/docs']) {
      assert.ok(text.includes(`(https://pay.example${name})`), name);
      await request(app.server).get(name).expect(200);
    }
    for (const name of ['checkout/sessions', 'keys', 'webhook_endpoints']) {
      assert.ok(text.includes(`https://pay.example/v1/${name}`), name);
      await request(app.server).post(`/v1/${name}`).expect(401);
    }
  });

  it('lists the tokens that stock clients accept by default, as in those clients', async () => {
    const signer = await createKeyPairSignerFromBytes(fromBase58(SOLANA_BUYER_KEY));
    const schemes = {
      evm: new ExactEvmScheme(privateKeyToAccount(EVM_BUYER_KEY)),
      svm: new ExactSvmScheme(signer),
    };
    for (const token of OFFERED_TOKENS) {
      const { caip2, name, testnet } = token.network;
      const isDefault = schemes[token.family].findDefaultAsset(token.address, network(caip2)) !== undefined;
      assert.equal(isKnownToStockClients(token), isDefault, `${token.symbol} on ${name}`);
      const list = `- ${isDefault ? 'Paid by default' : 'Only when named'}, ${testnet ? 'test' : 'live'}: `;
      const line = text.split('\n').find((one) => one.startsWith(list)) ?? '';
      assert.ok(line.includes(`${token.symbol} on ${name} (${caip2})`), `${token.symbol} on ${name}`);
    }
  });

  it('names every event type', () => {
    for (const type of EVENT_TYPES) assert.ok(text.includes(type), type);
  });

  it('names only existing codes, each with its status', () => {
    for (const code of ['session_already_paid', 'signature_already_used'] as const) {
      assert.match(text, new RegExp(`^- ${BUYER_ERRORS[code]}:[^-]*\`${code}\``, 'm'));
    }
    assert.ok(text.includes('`insufficient_funds`') && FAILURE_CODES.includes('insufficient_funds'));
  });

  it('names exactly the x402 extensions that links support', async () => {
    const merchant = await buildMerchant(app.db);
    const { id } = await buildSession(app.db, merchant.accountId);
    const { body } = await request(app.server).get(`/c/${id}`).expect(402);
    assert.deepEqual(Object.keys(body.extensions), ['payment-identifier']);
    assert.ok(text.includes('`payment-identifier`'));
    // `offer-receipt` covers offers and receipts; only receipts are signed.
    assert.ok(text.includes('signed receipts'));
    assert.doesNotMatch(text, /signed offers/);
  });

  it('contains the code of the examples', () => {
    const blocks = [...text.matchAll(/```(?:js|sh)\n([\s\S]*?)\n```/g)].map(([, code = '']) => code);
    const [agent = '', session = ''] = blocks;
    assert.equal(blocks.length, 2);
    assert.equal(withoutHead(readExample('agent-fetch.mjs')), `${agent}\n`);
    const script = readExample('create-session.sh').replaceAll('$CHECKOUT_URL', 'https://pay.example');
    for (const line of session.split('\n')) assert.ok(script.includes(line), `not in the example: ${line}`);
  });

  it('is compressed on request, and supports HEAD', async () => {
    for (const [encoding, kind] of [
      ['br', 'br'],
      ['gzip', 'gzip'],
      ['', undefined],
    ] as const) {
      const res = await request(app.server).get('/llms.txt').set('Accept-Encoding', encoding);
      assert.equal(res.get('Content-Encoding'), kind);
      assert.match(res.get('Vary') ?? '', /Accept-Encoding/);
    }
    const head = await request(app.server).head('/llms.txt').expect(200);
    assert.ok(Number(head.get('Content-Length')) > 1000);
  });

  it('is served at / to agents, while people get the reference', async () => {
    for (const accept of ['*/*', 'application/json', '']) {
      const res = await request(app.server).get('/').set('Accept', accept).expect(200);
      assert.equal(res.text, text);
      assert.match(res.get('Vary') ?? '', /^Accept,/);
    }
    const page = await request(app.server).get('/').set('Accept', 'text/html,*/*;q=0.8').expect(200);
    const reference = await request(app.server).get('/docs').expect(200);
    assert.equal(page.text, reference.text);
    assert.equal(page.get('Content-Security-Policy'), reference.get('Content-Security-Policy'));
    assert.match(page.get('Vary') ?? '', /^Accept,/);
    await request(app.server).post('/').expect(405);
  });
});

function readExample(name: string): string {
  return readFileSync(path.join(projectRoot(), 'examples', name), 'utf8');
}

/** Cuts off the comment on usage. */
function withoutHead(program: string): string {
  return program.replace(/^(?:\/\/.*\n)+/, '');
}

function network(caip2: string): `${string}:${string}` {
  const [namespace = '', reference = ''] = caip2.split(':');
  return `${namespace}:${reference}`;
}
