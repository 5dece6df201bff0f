import assert from 'node:assert/strict';
import { buildKey, EVM_WALLET, SOLANA_WALLET } from '../../lab/world/shop/factories.js';
import { openKeyUses } from '../../shared/accounts/key-uses.js';
import { ApiKey } from '../../shared/accounts/model.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { newId } from '../../shared/values/ids.js';
import {
  assertInvalid,
  assertMissing,
  assertUnauthenticated,
  buildSigner,
  client,
  signToken,
} from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { callText, postMcp } from '../support/mcp.js';
import { idsOf, readPage } from '../support/pages.js';
import { captureStatements } from '../support/query-plans.js';
import { buildShop } from '../support/shop.js';

const KEYS = '/v1/keys';
const HOUR_MS = 3_600_000;
const thisHour = (): number => Math.floor(nowMs() / HOUR_MS) * 3600;

describe("a merchant's own keys", () => {
  const app = forAllTests(openTestApp);
  afterEach(resetClock);

  const add = (accountId: string, name: string) => buildKey(app.db, accountId, { name });

  it('are listed without secrets, for the mode of the requesting key', async () => {
    const shop = await buildShop(app);
    const signer = await buildSigner(app.db, shop.accountId);
    const { body: made } = await client(app, signToken(signer)).post(KEYS, { livemode: false, name: 'Till' });
    const res = await shop.test.get(KEYS).expect(200);
    const [till, first] = res.body.data;
    assert.deepEqual(till, {
      object: 'api_key',
      id: made.id,
      name: 'Till',
      livemode: false,
      access: 'full',
      payout_wallets: { evm: EVM_WALLET, solana: SOLANA_WALLET },
      created: made.created,
      last_used: null,
      facilitator_key: signer.keyId,
    });
    assert.deepEqual([first.name, first.facilitator_key, first.last_used], ['Test', null, thisHour()]);
    assert.deepEqual([res.body.data.length, res.body.has_more, res.body.url], [2, false, KEYS]);
    assert.doesNotMatch(res.text, /svc_ck_/);
    const live = await readPage(shop.live, KEYS);
    assert.deepEqual(
      live.data.map(({ name }) => name),
      ['Live'],
    );
  });

  it('are paged, also from a deleted key', async () => {
    const shop = await buildShop(app);
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.unshift((await add(shop.accountId, name)).key.id);
    const page = await readPage(shop.test, `${KEYS}?limit=2`);
    assert.deepEqual([idsOf(page), page.has_more], [ids.slice(0, 2), true]);
    await shop.test.delete(`${KEYS}/${ids[1]}`).expect(200);
    const rest = await readPage(shop.test, `${KEYS}?starting_after=${ids[1]}`);
    assert.deepEqual(idsOf(rest)[0], ids[2]);
    assert.deepEqual(idsOf(await readPage(shop.test, `${KEYS}?ending_before=${ids[2]}`)), [ids[0]]);
    assertMissing(await shop.test.get(`${KEYS}?starting_after=${newId('key_')}`), 'starting_after');
    assertInvalid(await shop.test.get(`${KEYS}?name=a`), 'parameter_unknown', 'name');
  });

  describe('are deleted', () => {
    it('and fail on the next request', async () => {
      const shop = await buildShop(app);
      const { key, secret } = await add(shop.accountId, 'Leaked');
      await client(app, secret).get(KEYS).expect(200);
      const { body } = await shop.test.delete(`${KEYS}/${key.id}`).expect(200);
      assert.deepEqual(body, { id: key.id, object: 'api_key', deleted: true });
      assertUnauthenticated(await client(app, secret).get(KEYS), 'api_key_revoked');
      assert.ok(!idsOf(await readPage(shop.test, KEYS)).includes(key.id));
      assertMissing(await shop.test.delete(`${KEYS}/${key.id}`));
    });

    it('by themselves, once', async () => {
      const shop = await buildShop(app);
      const { key, secret } = await add(shop.accountId, 'Own');
      const own = client(app, secret);
      const answers = await Promise.all([1, 2, 3].map(() => own.delete(`${KEYS}/${key.id}`)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
      assertUnauthenticated(await own.delete(`${KEYS}/${newId('key_')}`), 'api_key_revoked');
    });
  });

  describe('show when they were last used', () => {
    const lastUsed = async (id: string): Promise<number | null> => {
      const { lastUsedAt } = await ApiKey.query(app.db).findById(id).throwIfNotFound();
      return lastUsedAt === null ? null : lastUsedAt.getTime() / 1000;
    };

    it('to the hour, in any way of use', async () => {
      const shop = await buildShop(app);
      const [rest, tool, unused] = [
        await add(shop.accountId, 'REST'),
        await add(shop.accountId, 'MCP'),
        await add(shop.accountId, 'Unused'),
      ];
      await client(app, rest.secret).get('/v1/payments').expect(200);
      await postMcp(app, tool.secret, callText('list_payments', '{}')).expect(200);
      const lastUses = async (): Promise<Record<string, unknown>> =>
        Object.fromEntries(
          (await readPage(shop.test, KEYS)).data.map(({ name, last_used }) => [name, last_used]),
        );
      const hour = thisHour();
      assert.deepEqual(await lastUses(), { REST: hour, MCP: hour, Unused: null, Test: hour });
      advanceClock(2 * HOUR_MS);
      await client(app, rest.secret).get('/v1/payments').expect(200);
      assert.deepEqual(await lastUses(), { REST: thisHour(), MCP: hour, Unused: null, Test: thisHour() });
      assert.equal(await lastUsed(unused.key.id), null);
    });

    it('with one statement per hour for all keys, outside of requests', async () => {
      const shop = await buildShop(app);
      const keys = await Promise.all(['a', 'b', 'c'].map((name) => add(shop.accountId, name)));
      await app.keyUses.write();
      const isUse = ({ sql }: { sql: string }): boolean => /update "api_keys"/i.test(sql);
      const statements = await captureStatements(app.db, async () => {
        for (const { secret } of [...keys, ...keys])
          await client(app, secret).get('/v1/payments').expect(200);
      });
      assert.deepEqual(statements.filter(isUse), []);
      const written = await captureStatements(app.db, async () => {
        await app.keyUses.write();
        for (const { secret } of keys) await client(app, secret).get('/v1/payments').expect(200);
        await app.keyUses.write();
      });
      assert.equal(written.filter(isUse).length, 1);
      for (const { key } of keys) assert.equal(await lastUsed(key.id), thisHour());
    });

    it('never moving back, and never after deletion', async () => {
      const shop = await buildShop(app);
      const [used, deleted] = [await add(shop.accountId, 'a'), await add(shop.accountId, 'b')];
      const uses = openKeyUses(app.db, app.logger);
      advanceClock(HOUR_MS);
      const later = thisHour();
      uses.note(used.key.id);
      await uses.write();
      resetClock();
      const behind = openKeyUses(app.db, app.logger);
      behind.note(used.key.id);
      await shop.test.delete(`${KEYS}/${deleted.key.id}`).expect(200);
      behind.note(deleted.key.id);
      await behind.close();
      assert.equal(await lastUsed(used.key.id), later);
      assert.equal(await lastUsed(deleted.key.id), null);
    });

    it('with the next use when writing failed', async () => {
      const shop = await buildShop(app);
      const { key } = await add(shop.accountId, 'a');
      const lines: unknown[] = [];
      const failing = openKeyUses(
        new Proxy(app.db, {
          get: (db, name) => {
            if (isBroken) throw new Error('broken');
            return Reflect.get(db, name);
          },
        }),
        Object.assign(Object.create(app.logger), { warn: (line: unknown) => lines.push(line) }),
      );
      let isBroken = true;
      failing.note(key.id);
      await failing.write();
      assert.equal(lines.length, 1);
      isBroken = false;
      failing.note(key.id);
      await failing.close();
      assert.equal(await lastUsed(key.id), thisHour());
    });
  });
});
