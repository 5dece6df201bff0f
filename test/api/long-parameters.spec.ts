import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import request from 'supertest';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { parseEvmWallet, parseSolanaWallet } from '../../shared/chains/networks/wallet-address.js';
import { assertMissing, assertUnauthenticated, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { allStatements } from '../support/query-plans.js';

/** The longest path that fits beside a few headers. */
const LENGTH = 30_000;
/** Reading so much base58 would take hours, since it takes quadratic time. */
const ENDLESS = 10_000_000;

describe('long parameters', () => {
  const app = forAllTests(() => openTestApp({ RATE_LIMIT_LINK_PER_MINUTE: '100' }));
  const shop = forAllTests(() => buildMerchant(app.db));
  let session: string;
  before(async () => {
    ({ id: session } = await buildSession(app.db, shop.accountId));
  });

  describe('of a wallet', () => {
    it('are read by no parser', () => {
      for (const letter of ['1', '2', 'z', '0', 'é', ' ']) {
        const text = letter.repeat(ENDLESS);
        for (const long of [text, `0x${text}`]) {
          assert.equal(parseSolanaWallet(long), undefined);
          assert.equal(parseEvmWallet(long), undefined);
        }
      }
    });

    it('are no wallet with a character more or less', () => {
      const solana = Keypair.generate().publicKey.toBase58();
      const evm = `0x${'a'.repeat(40)}`;
      assert.equal(parseSolanaWallet(solana), solana);
      assert.notEqual(parseEvmWallet(evm), undefined);
      for (const text of [`${evm}a`, evm.slice(0, -1), evm.slice(2), `${evm}\n`])
        assert.equal(parseEvmWallet(text), undefined, text);
      for (const text of [`${'1'.repeat(44)}${solana}`, `${solana}\n`, ` ${solana}`, `${solana.slice(1)}l`])
        assert.equal(parseSolanaWallet(text), undefined, text);
    });
  });

  it('of wallets at a link are refused, and counted by the limit of wallets', async () => {
    const ask = (address: string) =>
      request(app.server)
        .get(`/c/${session}/balances`)
        .query({ address })
        .set('X-Forwarded-For', '192.0.2.1');
    const statuses = [];
    for (const letter of ['1', 'z', '0x', 'é'.repeat(2), '+', 'A', '2', '3', '4', '5', '6', '7'])
      statuses.push((await ask(letter.repeat(LENGTH / letter.length / 6))).status);
    assert.deepEqual(
      statuses.slice(0, 10),
      Array.from({ length: 10 }, () => 400),
    );
    assert.deepEqual(statuses.slice(10), [429, 429]);
  });

  it('of a link are ignored', async () => {
    const open = await openTestApp();
    for (const name of ['network', 'token', 'lang', 'utm_source']) {
      const path = `/c/${session}?${name}=${'x'.repeat(LENGTH)}`;
      // Nothing can be offered, since no facilitator runs here.
      for (const [accept, expected] of [
        ['*/*', 503],
        ['text/html', 200],
      ] as const) {
        const { status } = await request(open.server).get(path).set('Accept', accept);
        assert.equal(status, expected, path.slice(0, 60));
      }
    }
    for (const path of ['', '/status', '/page', '/images/logo', '/balances'])
      assert.ok(
        [400, 404].includes((await request(open.server).get(`/c/${'x'.repeat(LENGTH)}${path}`)).status),
      );
    assert.equal((await request(open.server).get(`/c/${session}/images/${'9'.repeat(LENGTH)}`)).status, 404);
    await open.close();
  });

  describe('of /v1', () => {
    const LONG = 'x'.repeat(LENGTH);

    for (const list of ['payments', 'refunds', 'events', 'checkout/sessions', 'webhook_endpoints', 'keys'])
      for (const param of ['starting_after', 'ending_before'])
        it(`${list}: ${param} names nothing`, async () => {
          const res = await client(app, shop.testKey).get(`/v1/${list}?${param}=${LONG}`);
          assertMissing(res, param);
        });

    it('are cut before a cursor is looked up, and to more than an id', async () => {
      const api = client(app, shop.testKey);
      const path = `/v1/checkout/sessions?starting_after=${session}`;
      await api.get(path).expect(200);
      const sent = await allStatements(app.db, async () => {
        assertMissing(await api.get(path + LONG), 'starting_after');
      });
      const lengths = sent.flatMap(({ bindings }) => bindings.map((value) => String(value).length));
      assert.ok(lengths.length > 0 && Math.max(...lengths) < 200, `${lengths}`);
    });

    it('that filter match nothing', async () => {
      const api = client(app, shop.testKey);
      for (const path of ['events?checkout_session', 'refunds?payment'])
        assert.deepEqual((await api.get(`/v1/${path}=${LONG}`).expect(200)).body.data, [], path);
    });

    for (const objects of ['payments', 'refunds', 'events', 'checkout/sessions', 'webhook_endpoints'])
      it(`${objects}: are no id`, async () => {
        const res = await client(app, shop.testKey).get(`/v1/${objects}/${LONG}`);
        assertMissing(res);
      });

    const digits = '9'.repeat(LENGTH);
    const range = 'from=2026-11-01&to=2026-11-02';
    const refused = {
      'times and numbers': ['limit', 'created', 'created[gte]'].map((name) => `payments?${name}=${digits}`),
      'filters of payments': ['transaction', 'payer', 'token', 'network', 'checkout_session'].map(
        (name) => `payments?${name}=${LONG}`,
      ),
      'filters of sessions': ['status', 'client_reference_id', 'customer_email'].map(
        (name) => `checkout/sessions?${name}=${LONG}`,
      ),
      'days and zones of reports': [
        `from=${digits}&to=2026-11-02`,
        `from=2026-11-01&to=2026-11-02${digits}`,
        `${range}&timezone=${LONG}`,
        `${range}&timezone=Europe/${LONG}`,
      ].map((query) => `reports/daily?${query}`),
      'names of parameters': [LONG, `a[${LONG}]`, '['.repeat(LENGTH), '%'.repeat(LENGTH)].map(
        (name) => `payments?${name}=1`,
      ),
      'more parameters than there are': ['a=1&', 'limit=1&', 'created[gte]=1&'].map(
        (part) => `payments?${part.repeat(LENGTH / part.length)}`,
      ),
    };
    for (const [kind, paths] of Object.entries(refused))
      it(`are refused as ${kind}`, async () => {
        for (const path of paths) {
          const res = await client(app, shop.testKey).get(`/v1/${path}`);
          assert.equal(res.status, 400, `${path.slice(0, 60)}: ${res.status}`);
        }
      });

    it('are no key, in any scheme, and no token', async () => {
      for (const value of [
        `Bearer ${LONG}`,
        `Basic ${LONG}`,
        `Basic ${Buffer.from(LONG.slice(9000)).toString('base64')}`,
      ])
        assertUnauthenticated(
          await client(app).get('/v1/payments').set('Authorization', value),
          'api_key_invalid',
        );
      for (const token of [LONG, `${LONG.slice(20)}.x.y`, `${'e30'.repeat(9000)}.e30.e30`])
        assertUnauthenticated(
          await client(app).post('/v1/keys').set('Authorization', `Bearer ${token}`),
          'token_invalid',
        );
    });
  });
});
