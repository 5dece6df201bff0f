import assert from 'node:assert/strict';
import { buildMerchant, EVM_WALLET, SOLANA_WALLET } from '../../lab/world/shop/factories.js';
import { ApiKey, IdempotencyRecord } from '../../shared/accounts/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { insertAgentKeys } from '../support/agent-keys.js';
import {
  assertInvalid,
  assertLimited,
  assertRefusal,
  buildSigner,
  type Client,
  client,
  type Signer,
  signToken,
} from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

const KEYS = '/v1/keys';

describe('agent sign-up', () => {
  const app = forAllTests(openTestApp);

  const as = (signer: Signer): Client => client(app, signToken(signer));

  describe('creates a key', () => {
    it('that is live and named Agent key by default', async () => {
      const signer = await buildSigner(app.db);
      const { body } = await as(signer).post(KEYS).expect(200);
      const { id, secret, created, ...rest } = body;
      assert.match(id, /^key_[A-Za-z0-9]{20,}$/);
      assert.match(secret, /^svc_ck_live_[A-Za-z0-9]{32,}$/);
      assert.ok(Number.isSafeInteger(created));
      assert.deepEqual(rest, {
        object: 'api_key',
        name: 'Agent key',
        livemode: true,
        access: 'full',
        payout_wallets: { evm: EVM_WALLET, solana: SOLANA_WALLET },
      });
    });

    const bodies: [
      what: string,
      send: (api: Client) => ReturnType<Client['post']>,
      name: string,
      livemode: boolean,
    ][] = [
      ['{}', (api) => api.post(KEYS, {}), 'Agent key', true],
      ['null for both', (api) => api.post(KEYS, { livemode: null, name: null }), 'Agent key', true],
      ["'' for both", (api) => api.post(KEYS, { livemode: '', name: '' }), 'Agent key', true],
      ['an empty form', (api) => api.form(KEYS, ''), 'Agent key', true],
      ['livemode=&name=', (api) => api.form(KEYS, 'livemode=&name='), 'Agent key', true],
      ['livemode false', (api) => api.post(KEYS, { livemode: false }), 'Agent key', false],
      ['livemode=false', (api) => api.form(KEYS, 'livemode=false'), 'Agent key', false],
      ['livemode true', (api) => api.post(KEYS, { livemode: true }), 'Agent key', true],
      ['livemode=true', (api) => api.form(KEYS, 'livemode=true'), 'Agent key', true],
      ['a name', (api) => api.post(KEYS, { name: 'Einkäufer 🥐' }), 'Einkäufer 🥐', true],
      ['a name in a form', (api) => api.form(KEYS, { name: 'A & B', livemode: false }), 'A & B', false],
    ];
    for (const [what, send, name, livemode] of bodies) {
      it(`from ${what}`, async () => {
        const { body } = await send(as(await buildSigner(app.db))).expect(200);
        assert.deepEqual([body.name, body.livemode], [name, livemode]);
        assert.match(body.secret, livemode ? /^svc_ck_live_/ : /^svc_ck_test_/);
      });
    }

    it('that works immediately, on the same account and in its mode', async () => {
      const signer = await buildSigner(app.db);
      for (const livemode of [true, false]) {
        const { body } = await as(signer).post(KEYS, { livemode }).expect(200);
        const line = { price_data: { unit_amount: 1, product_data: { name: 'A' } } };
        const session = await client(app, body.secret).post('/v1/checkout/sessions', { line_items: [line] });
        assert.equal(session.status, 200, session.text);
        assert.equal(session.body.livemode, livemode);
        const row = await ApiKey.query(app.db).findById(body.id).throwIfNotFound();
        assert.equal(row.accountId, signer.accountId);
      }
    });

    it('whose secret is stored nowhere in plain text', async () => {
      const { body } = await as(await buildSigner(app.db))
        .post(KEYS)
        .expect(200);
      const { rows } = await app.db.raw('SELECT api_keys::text AS row FROM api_keys WHERE id = ?', [body.id]);
      assert.ok(!rows[0].row.includes(body.secret.slice('svc_ck_live_'.length)));
    });

    it('for an account without wallets, and shows that there are none', async () => {
      const { accountId } = await buildMerchant(app.db, { evmWallet: null, solanaWallet: null });
      const { body } = await as(await buildSigner(app.db, accountId))
        .post(KEYS)
        .expect(200);
      assert.deepEqual(body.payout_wallets, { evm: null, solana: null });
    });
  });

  describe('refuses the parameters', () => {
    const refused: [code: string, param: string, json: object | undefined, form: string | undefined][] = [
      ['parameter_invalid', 'livemode', { livemode: 'false' }, undefined],
      ['parameter_invalid', 'livemode', { livemode: 0 }, 'livemode=0'],
      ['parameter_invalid', 'livemode', { livemode: [] }, 'livemode=False'],
      ['parameter_invalid', 'livemode', undefined, 'livemode[]=false'],
      ['parameter_invalid', 'livemode', undefined, 'livemode=true&livemode=false'],
      ['parameter_invalid', 'name', { name: 7 }, 'name[a]=b'],
      ['parameter_invalid_string', 'name', { name: 'a\0' }, 'name=a%00'],
      ['parameter_invalid_string', 'name', { name: '\ud83d' }, undefined],
      ['parameter_unknown', 'account', { account: 'acct_1' }, 'account=acct_1'],
      ['parameter_unknown', 'scopes', { scopes: [] }, 'scopes[]=a'],
    ];
    for (const [code, param, json, form] of refused) {
      it(`${[json && JSON.stringify(json), form].filter(Boolean).join(' and ')}`, async () => {
        const signer = await buildSigner(app.db);
        if (json !== undefined) assertInvalid(await as(signer).post(KEYS, json), code, param);
        if (form !== undefined) assertInvalid(await as(signer).form(KEYS, form), code, param);
        assert.equal(await ApiKey.query(app.db).where({ facilitatorKeyId: signer.keyId }).resultSize(), 0);
      });
    }

    it('in the query', async () => {
      assertInvalid(
        await as(await buildSigner(app.db)).post(`${KEYS}?livemode=false`),
        'parameter_unknown',
        'livemode',
      );
    });

    it('of a name over 100 characters, and accepts one of 100', async () => {
      const api = as(await buildSigner(app.db));
      for (const send of ['post', 'form'] as const) {
        const name = '🥐'.repeat(100);
        assert.equal((await api[send](KEYS, { name }).expect(200)).body.name, name);
        assertInvalid(await api[send](KEYS, { name: `${name}!` }), 'parameter_invalid_string', 'name');
      }
    });
  });

  describe('with an Idempotency-Key', () => {
    it('returns the same secret again, from an encrypted record', async () => {
      const signer = await buildSigner(app.db);
      const send = () => as(signer).post(KEYS, { name: 'CI' }).set('Idempotency-Key', 'once');
      const first = await send().expect(200);
      const again = await send().expect(200);
      assert.equal(again.text, first.text);
      assert.equal(again.get('Idempotent-Replayed'), 'true');
      const records = await IdempotencyRecord.query(app.db).where({ accountId: signer.accountId });
      assert.deepEqual(
        records.map(({ sealed, livemode }) => ({ sealed, livemode })),
        [{ sealed: true, livemode: true }],
      );
      const { rows } = await app.db.raw(
        'SELECT idempotency_records::text AS row FROM idempotency_records WHERE account_id = ?',
        [signer.accountId],
      );
      assert.ok(!rows[0].row.includes('svc_ck_') && !rows[0].row.includes(first.body.secret.slice(-40)));
    });

    it('replays even when the hourly limit has been reached', async () => {
      const signer = await buildSigner(app.db);
      const send = () => as(signer).post(KEYS).set('Idempotency-Key', 'tenth');
      await insertAgentKeys(app.db, signer, 9, nowMs());
      const first = await send().expect(200);
      assert.equal((await send().expect(200)).text, first.text);
      assertLimited(await as(signer).post(KEYS).set('Idempotency-Key', 'eleventh'));
    });

    it('creates one key for concurrent requests', async () => {
      const signer = await buildSigner(app.db);
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => as(signer).post(KEYS).set('Idempotency-Key', 'once').expect(200)),
      );
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter((res) => res.get('Idempotent-Replayed') === undefined).length, 1);
    });

    it('separates the modes, and treats absent, null and empty values alike', async () => {
      const signer = await buildSigner(app.db);
      const send = (body: object) => as(signer).post(KEYS, body).set('Idempotency-Key', 'k');
      const live = await send({}).expect(200);
      const test = await send({ livemode: false }).expect(200);
      assert.notEqual(test.body.secret, live.body.secret);
      assert.equal((await send({ livemode: null, name: '' }).expect(200)).text, live.text);
      const form = await as(signer).form(KEYS, 'livemode=false').set('Idempotency-Key', 'k').expect(200);
      assert.equal(form.text, test.text);
    });

    it('refuses a different body; defaults are not filled in', async () => {
      const signer = await buildSigner(app.db);
      const send = (body: object) => as(signer).post(KEYS, body).set('Idempotency-Key', 'k');
      await send({}).expect(200);
      for (const body of [{ name: 'Agent key' }, { livemode: true }]) {
        assertRefusal(await send(body), 400, 'idempotency_key_reused');
      }
    });

    it('shares idempotency keys with the account and mode', async () => {
      const signer = await buildSigner(app.db);
      const { body } = await as(signer)
        .post(KEYS, { livemode: false })
        .set('Idempotency-Key', 'k')
        .expect(200);
      const res = await client(app, body.secret)
        .post('/v1/webhook_endpoints', { url: 'https://1.1.1.1/' })
        .set('Idempotency-Key', 'k');
      assertRefusal(res, 400, 'idempotency_key_reused');
    });
  });
});
