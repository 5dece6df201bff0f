import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MERCHANT_TOOLS } from '../../api/mcp/tools.js';
import {
  buildKey,
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildRevokedKey,
  buildSession,
} from '../../lab/world/shop/factories.js';
import { newId, sessionPrefix } from '../../shared/values/ids.js';
import { type Client, client, type Method } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { callText, postMcp } from '../support/mcp.js';
import {
  BODIES,
  CURSORS,
  type Kind,
  OBJECTS,
  operations,
  PREFIXES,
  WITHIN,
} from '../support/operation-matrix.js';
import { idsOf } from '../support/pages.js';

describe('isolation of accounts and modes', () => {
  const app = forAllTests(openTestApp);
  const mine = forAllTests(() => buildMerchant(app.db));
  const theirs = forAllTests(() => buildMerchant(app.db));
  /** Objects in test mode. */
  let objects: Record<Kind, string>;
  let liveObjects: Record<Kind, string>;
  before(async () => {
    objects = await buildObjects(false);
    liveObjects = await buildObjects(true);
  });

  async function buildObjects(livemode: boolean): Promise<Record<Kind, string>> {
    const { accountId } = mine;
    const session = await buildSession(app.db, accountId, { livemode });
    const { payment } = await buildPaidSession(app.db, accountId, { livemode });
    const refund = await buildRefund(app.db, accountId, {}, { livemode });
    const api = client(app, livemode ? mine.liveKey : mine.testKey);
    const { body } = await api.post('/v1/webhook_endpoints', { url: 'https://1.1.1.1/' }).expect(200);
    const expired = await buildSession(app.db, accountId, { livemode });
    await api.post(`/v1/checkout/sessions/${expired.id}/expire`).expect(200);
    const { data: events } = (await api.get('/v1/events').expect(200)).body;
    const { key } = await buildKey(app.db, accountId, { livemode });
    return {
      session: session.id,
      payment: payment.id,
      event: events[0].id,
      refund: refund.id,
      endpoint: body.id,
      key: key.id,
      delivery: (await api.get(`/v1/webhook_endpoints/${body.id}/deliveries`)).body.data[0].id,
      lineItem: session.lineItems?.[0]?.id ?? '',
    };
  }

  interface Way {
    name: string;
    method: Method;
    /** A request that reaches the object with this id; `own`: the objects of its account and mode. */
    target(id: string, own: Record<Kind, string>): string;
    object: Kind;
    body: object | undefined;
  }

  /** Ways to an object: by the id in the path, and by each cursor. */
  const ways: Way[] = operations.flatMap(({ name, method, path, operation }) => {
    const object = OBJECTS[path];
    if (object === undefined) return [];
    const body = BODIES[name] ?? (operation.requestBody === undefined ? undefined : {});
    const hasId = path.includes('{id}');
    const byId = hasId
      ? [{ name, method, object, body, target: (id: string) => path.replace('{id}', id) }]
      : [];
    const cursors = CURSORS.filter((cursor) =>
      operation.parameters.some((parameter) => parameter.name === cursor),
    );
    const byCursor = cursors.map((cursor) => ({
      name: `${name} by ${cursor}`,
      method,
      object: WITHIN[path] ?? object,
      body,
      target: (id: string, own: Record<Kind, string>) =>
        `${hasId ? path.replace('{id}', own[object]) : path}?${cursor}=${id}`,
    }));
    return [...byId, ...byCursor];
  });

  const ask = async (
    api: Client,
    { method, body }: Pick<Way, 'method' | 'body'>,
    path: string,
  ): Promise<{ answer: string; sentence: string }> => {
    const res = await (method === 'post' ? api.post(path, body) : api.send(method, path));
    const { code = 'fine', param = '', message = '' } = res.body.error ?? {};
    const sentence = message.replaceAll(/\b[a-z_]+_[A-Za-z0-9]{28}\b/g, '…');
    return { answer: `${res.status} ${code} ${param}`.trim(), sentence };
  };

  it('covers every path of the document', () => {
    const unknown = operations.filter(({ path }) => !Object.hasOwn(OBJECTS, path));
    assert.deepEqual(
      unknown.map(({ name }) => name),
      [],
      'say in OBJECTS what it shows',
    );
    assert.ok(operations.length >= 11);
    assert.ok(ways.length >= 14);
  });

  it('covers every path with an id and every list', () => {
    for (const { name, path, operation } of operations) {
      const isReached =
        path.includes('{id}') || operation.parameters.some((parameter) => CURSORS.includes(parameter.name));
      if (isReached)
        assert.ok(
          ways.some((way) => way.name.startsWith(name)),
          name,
        );
    }
  });

  for (const way of ways) {
    it(`${way.name}: an object of another account or mode is answered like one that does not exist`, async () => {
      const param = way.name.includes(' by ') ? way.name.replace(/.* by /, '') : 'id';
      const modes = [
        [objects, mine.testKey, mine.liveKey],
        [liveObjects, mine.liveKey, mine.testKey],
      ] as const;
      for (const [there, ownKey, otherKey] of modes) {
        const prefix = way.object === 'session' ? sessionPrefix(there === liveObjects) : PREFIXES[way.object];
        const existing = way.target(there[way.object], there);
        const missing = way.target(newId(prefix), there);
        for (const key of [theirs.testKey, theirs.liveKey, otherKey]) {
          const api = client(app, key);
          // A nested list is reached through its object, which belongs to another account.
          const expected = `404 resource_missing ${Object.values(WITHIN).includes(way.object) ? 'id' : param}`;
          const [ofObject, ofNone] = [await ask(api, way, existing), await ask(api, way, missing)];
          assert.deepEqual([ofObject.answer, ofNone.answer], [expected, expected]);
          // The sentence names the other mode to keys of the account alone.
          if (key !== otherKey) assert.equal(ofObject.sentence, ofNone.sentence);
        }
        const own = client(app, ownKey);
        assert.equal((await ask(own, way, missing)).answer, `404 resource_missing ${param}`);
        if (way.method === 'get') assert.equal((await ask(own, way, existing)).answer, '200 fine');
      }
    });
  }

  it('POST /v1/refunds: a payment of another account or mode is answered like one that does not exist', async () => {
    for (const key of [theirs.testKey, theirs.liveKey, mine.liveKey]) {
      for (const payment of [objects.payment, newId('pay_')]) {
        const create = { method: 'post' as const, body: { payment } };
        const { answer } = await ask(client(app, key), create, '/v1/refunds');
        assert.equal(answer, '404 resource_missing payment');
      }
    }
  });

  describe('of MCP tools', () => {
    /** Ways to an object: by id, and by each cursor; other required arguments are missing and must not matter. */
    const toolWays = MERCHANT_TOOLS.flatMap(({ name, path, id, parameters }) => {
      const object = OBJECTS[`/v1${path}`];
      // A cursor within an object requires the object.
      const isList = id === undefined;
      const cursors = CURSORS.filter(
        (cursor) => isList && Object.hasOwn(parameters?.properties ?? {}, cursor),
      );
      return [...(id === undefined ? [] : ['id']), ...cursors].map((param) => ({ name, param, object }));
    });

    const call = async (key: string, name: string, args: object): Promise<string> => {
      const res = await postMcp(app, key, callText(name, JSON.stringify(args))).expect(200);
      const { error } = res.body.result.structuredContent;
      return error === undefined ? 'fine' : `${error.code} ${error.param}`;
    };

    it('covers every tool that names an object', () => {
      assert.ok(toolWays.length >= 11);
      for (const { name, object } of toolWays) assert.notEqual(object, undefined, name);
      const others = MERCHANT_TOOLS.filter(({ name }) => !toolWays.some((way) => way.name === name));
      assert.deepEqual(
        others.map(({ name }) => name),
        ['create_checkout_session', 'create_refund', 'retrieve_daily_reports', 'create_webhook_endpoint'],
      );
    });

    for (const { name, param, object = 'session' } of toolWays) {
      it(`${name} by ${param}: an object of another account or mode is answered like one that does not exist`, async () => {
        for (const key of [theirs.testKey, theirs.liveKey, mine.liveKey]) {
          for (const id of [objects[object], newId(PREFIXES[object])]) {
            assert.equal(await call(key, name, { [param]: id }), `resource_missing ${param}`);
          }
        }
      });
    }

    it('lists show only the objects of the account and mode', async () => {
      const all = [...Object.values(objects), ...Object.values(liveObjects)];
      for (const [key, hidden] of [
        [theirs.testKey, all],
        [theirs.liveKey, all],
        [mine.testKey, Object.values(liveObjects)],
        [mine.liveKey, Object.values(objects)],
      ] as const) {
        for (const { name } of MERCHANT_TOOLS.filter(
          ({ name, id }) => name.startsWith('list_') && id === undefined,
        )) {
          const res = await postMcp(app, key, callText(name, '{}')).expect(200);
          const ids = idsOf(res.body.result.structuredContent);
          assert.deepEqual(
            ids.filter((id) => hidden.includes(id)),
            [],
            name,
          );
          // Each merchant has a key of each mode.
          if (hidden === all) assert.equal(ids.length, name === 'list_keys' ? 1 : 0, name);
        }
      }
    });
  });

  describe('answers 401, whether the object exists or not,', () => {
    const bearer = (text: string): string => `Bearer ${text}`;
    /** A new key for each request, since a process remembers the key that it has refused. */
    const usedAndRevoked = async (): Promise<string> =>
      bearer(
        await buildRevokedKey(app.db, mine.accountId, (key) =>
          client(app, key).get('/v1/payments').expect(200),
        ),
      );
    const credentials: Record<string, [header: () => string | undefined | Promise<string>, code: string]> = {
      'no key': [() => undefined, 'api_key_missing'],
      'a revoked key': [usedAndRevoked, 'api_key_revoked'],
      'a made-up key': [
        () => bearer(`svc_ck_test_${randomUUID().replaceAll('-', '')}12345678`),
        'api_key_invalid',
      ],
    };
    for (const [kind, [credential, code]] of Object.entries(credentials)) {
      it(`to ${kind}, on every operation`, async () => {
        const api = client(app);
        for (const { name, method, path, operation } of operations) {
          const object = OBJECTS[path] ?? 'session';
          const body = BODIES[name] ?? (operation.requestBody === undefined ? undefined : {});
          for (const id of [objects[object], newId(PREFIXES[object])]) {
            const header = await credential();
            const test = api.send(method, path.replace('{id}', id));
            if (header !== undefined) test.set('Authorization', header);
            if (body !== undefined) test.send(body);
            const res = await test;
            assert.equal(`${res.status} ${res.body.error?.code}`, `401 ${code}`, name);
          }
        }
        for (const { name } of MERCHANT_TOOLS) {
          const header = await credential();
          const test = postMcp(app, undefined, callText(name, JSON.stringify({ id: objects.session })));
          if (header !== undefined) test.set('Authorization', header);
          const res = await test;
          assert.equal(`${res.status} ${res.body.error?.code}`, `401 ${code}`, name);
        }
      });
    }
  });

  // Stories of a suite run before its inner suites.
  describe('by all of these requests', () => {
    it('leaves all objects unchanged', async () => {
      const api = client(app, mine.testKey);
      const session = await api.get(`/v1/checkout/sessions/${objects.session}`).expect(200);
      assert.equal(session.body.status, 'open');
      const endpoint = await api.get(`/v1/webhook_endpoints/${objects.endpoint}`).expect(200);
      assert.equal(endpoint.body.status, 'enabled');
      const keys = await api.get('/v1/keys').expect(200);
      assert.ok(idsOf(keys.body).includes(objects.key));
      const refund = await api.get(`/v1/refunds/${objects.refund}`).expect(200);
      assert.equal(refund.body.status, 'requires_action');
    });
  });
});
