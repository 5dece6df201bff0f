import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import {
  nodeProgram,
  restart,
  startWebProcess,
  type WebServiceProcess,
} from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { buildMerchant, buildSession, type Merchant } from '../../lab/world/shop/factories.js';
import { main } from '../../local/listen/main.js';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { createApiKey, revokeApiKey } from '../../shared/accounts/api-keys.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { lowestIdAt, newId, randomText } from '../../shared/values/ids.js';
import type { EventType } from '../../shared/webhooks/event-types.js';
import { Event } from '../../shared/webhooks/model.js';
import { type LocalShop, openLocalShop } from '../support/local-shop.js';
import { createMigratedDatabase, testServices } from '../support/suite.js';

const TIMES = { pauseMs: 30, wholeLookMs: 200, longestPauseMs: 200, overlapSeconds: 300 };

interface Listener {
  stdout: string;
  stderr: string;
  stop(): Promise<number>;
  ended: Promise<number>;
}

describe('npm run listen', () => {
  let db: Knex;
  let merchant: Merchant;
  let service: WebServiceProcess;
  let front: TcpProxy;
  let url: string;
  let shop: LocalShop;

  before(async () => {
    const databaseUrl = await createMigratedDatabase('listen');
    db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
    service = await startWebProcess({
      DATABASE_URL: databaseUrl,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      CHECK_TOKEN_ACCOUNTS: 'false',
    });
    // Each process has a port of its own; the address stays the same, and no other server can take it.
    front = await TcpProxy.start(`http://127.0.0.1:${service.port}`);
    ({ url } = front);
  });
  beforeEach(async () => {
    merchant = await buildMerchant(db);
    shop = await openLocalShop();
  });
  afterEach(() => shop.close());
  after(async () => {
    service.signal('SIGTERM');
    await service.exited;
    await front.refuse();
    await db.destroy();
  });

  async function atNewPort(): Promise<void> {
    const { port } = await service.logged('web.listening');
    front.leadTo(`http://127.0.0.1:${port}`);
  }

  async function happen(
    type: EventType = 'checkout.session.completed',
    id: string = newId('evt_'),
  ): Promise<string> {
    const { id: payableId } = await buildSession(db, merchant.accountId);
    await Event.query(db).insert(eventOf(payableId, type, id));
    return id;
  }

  function eventOf(
    payableId: string,
    type: EventType = 'checkout.session.completed',
    id: string = newId('evt_'),
  ) {
    const object = { id: payableId, metadata: { 10: 'ten', 9: 'nine', b: 'é' } };
    return { id, accountId: merchant.accountId, livemode: false, payableId, type, object };
  }

  function listen(...more: string[]): Listener {
    const stop = new AbortController();
    const argv = ['--key', merchant.testKey, '--url', url, ...more];
    const listener: Listener = {
      stdout: '',
      stderr: '',
      ended: Promise.resolve(0),
      stop: () => {
        stop.abort();
        return listener.ended;
      },
    };
    const output = {
      stdout: { write: (text: string) => (listener.stdout += text) },
      stderr: { write: (text: string) => (listener.stderr += text) },
    };
    listener.ended = main(argv, { output, signal: stop.signal, times: TIMES });
    return listener;
  }

  async function untilReady(listener: Listener): Promise<void> {
    await eventually(() => assert.match(listener.stdout + listener.stderr, /^Ready\. /m));
    shop.secret = /whsec_\S+/.exec(listener.stdout + listener.stderr)?.[0] ?? '';
  }

  const shopGot = (ids: readonly string[]): Promise<void> =>
    eventually(() => {
      assert.deepEqual(shop.problems, []);
      assert.deepEqual(shop.ids, ids);
    });

  it('posts each event once and signed, with the bytes of a webhook, and prints the status', async () => {
    await happen();
    const listener = listen('--forward-to', shop.url);
    await untilReady(listener);
    const first = await happen();
    await shopGot([first]);
    shop.status = 500;
    const second = await happen('refund.updated');
    await shopGot([first, second]);
    await eventually(() =>
      assert.match(listener.stdout, new RegExp(`refund.updated  ${second}  cs_test_\\S+  → 500`)),
    );
    assert.match(listener.stdout, new RegExp(`checkout.session.completed  ${first}  cs_test_\\S+  → 200`));
    const answer = await fetch(`${url}/v1/events/${first}`, {
      headers: { authorization: `Bearer ${merchant.testKey}` },
    });
    assert.equal(shop.bodies[0], await answer.text());
    assert.equal(await listener.stop(), 0);
    assert.equal(listener.stderr, '');
  });

  it('misses nothing and repeats nothing when the service restarts and events appear late', async () => {
    const listener = listen('--forward-to', shop.url);
    await untilReady(listener);
    const expected: string[] = [];
    for (let i = 0; i < 3; i += 1) expected.push(await happen());
    await shopGot(expected);
    // The event was made a minute ago, and its transaction is committed now.
    expected.push(await happen('checkout.session.expired', earlier(60)));
    await shopGot(expected);

    service.signal('SIGKILL');
    await service.exited;
    await eventually(() => assert.match(listener.stderr, /does not answer \(/));
    const away = [await happen(), await happen('checkout.session.expired', earlier(90)), await happen()];
    service.startAgain();
    await atNewPort();
    await eventually(() => assert.match(listener.stderr, /answers again/));
    const [young, old, youngest] = away;
    await eventually(() => assert.equal(shop.ids.length, expected.length + 3));
    assert.deepEqual([...shop.ids].sort(), [...expected, ...away].sort());
    assert.deepEqual(
      shop.ids.slice(expected.length).filter((id) => id !== old),
      [young, youngest],
    );
    assert.equal((await restart(service, 'SIGTERM')).code, 0);
    await atNewPort();
    const last = await happen();
    await eventually(() => assert.equal(shop.ids.at(-1), last));
    assert.equal(new Set(shop.ids).size, shop.ids.length);
    assert.deepEqual(shop.problems, []);
    assert.equal(await listener.stop(), 0);
  });

  it('misses nothing when the clock of web, by which it answers, is far ahead of that of the events', async () => {
    const old = await happen('checkout.session.completed', earlier(1000));
    const listener = listen('--forward-to', shop.url);
    await untilReady(listener);
    const made: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      made.push(await happen('checkout.session.completed', earlier(600)));
      await shopGot(made);
    }
    assert.ok(!shop.ids.includes(old));
    assert.equal(await listener.stop(), 0);
  });

  it('follows more events than a page holds', async () => {
    const listener = listen('--forward-to', shop.url);
    await untilReady(listener);
    const { id: payableId } = await buildSession(db, merchant.accountId);
    const rows = Array.from({ length: 110 }, () => eventOf(payableId));
    // One statement inserts all: of events that come one by one, the newest page of each look would hold all.
    await Event.query(db).insert(rows);
    await eventually(() => assert.equal(shop.ids.length, rows.length));
    assert.deepEqual([...shop.ids].sort(), rows.map(({ id }) => id).sort());
    await listener.stop();
  });

  it('tries again when the shop refuses connections for a moment, and goes on', async () => {
    const listener = listen('--forward-to', shop.url);
    await untilReady(listener);
    const { port } = new URL(shop.url);
    await shop.close();
    const missed = await happen();
    await eventually(() => assert.match(listener.stdout, new RegExp(`${missed} .*→ ECONNREFUSED`)));
    const { secret } = shop;
    shop = Object.assign(await openLocalShop(Number(port)), { secret });
    const next = await happen();
    await shopGot([next]);
    await listener.stop();
  });

  it('posts only the types of --events, with a read-only key', async () => {
    const reader = {
      accountId: merchant.accountId,
      livemode: false,
      name: 'Reader',
      access: 'read',
    } as const;
    const { key, secret } = await createApiKey(db, reader);
    const only = 'refund.updated,checkout.session.expired';
    const listener = listen('--forward-to', shop.url, '--events', only, '--key', secret);
    await untilReady(listener);
    await happen('checkout.session.completed');
    const wanted = [await happen('refund.updated'), await happen('checkout.session.expired')];
    await shopGot(wanted);
    await revokeApiKey(db, key.id);
    assert.equal(await listener.ended, 1);
    assert.match(listener.stderr, /This API key was revoked/);
  });

  it('prints events as lines of JSON with --print, and nothing else on standard output', async () => {
    const listener = listen('--print');
    await untilReady(listener);
    const made = [await happen(), await happen()];
    await eventually(() => assert.equal(listener.stdout.split('\n').length, 3));
    const printed = listener.stdout.trim().split('\n');
    assert.deepEqual(
      printed.map((line) => JSON.parse(line).id),
      made,
    );
    assert.equal(await listener.stop(), 0);
  });

  it('says in one line why it cannot begin', async () => {
    const wrong: [argv: string[], words: RegExp][] = [
      [['--key', 'svc_ck_test_nobodys'], /Invalid API key provided/],
      [['--key', ''], /--key is missing/],
      [['--key', 'svc_ck_\n'], /./],
      [['--url', 'http://user:word@127.0.0.1:1'], /credentials/],
      [['--url', shop.url], /is not this service/],
      [['--url', 'ftp://shop.example'], /--url must be an http or https URL/],
      [['--forward-to', 'http://'], /--forward-to must be/],
      [['--events', 'payment.succeeded'], /--events has "payment.succeeded"\. The types are: checkout/],
      [['--follow'], /--follow/],
    ];
    for (const [argv, words] of wrong) {
      const listener = listen(...argv);
      assert.equal(await listener.ended, 1, argv.join(' '));
      assert.match(listener.stderr, words);
      assert.equal(listener.stderr.trimEnd().split('\n').length, 1);
    }
    const help = listen('--help');
    assert.equal(await help.ended, 0);
    assert.match(help.stdout, /^Usage: npm run -s listen/);
  });

  async function startCommand(): Promise<StartedProcess> {
    const options = ['--key', merchant.testKey, '--url', url, '--forward-to', shop.url];
    const program = nodeProgram(['local/commands/listen.mjs', ...options], { cwd: projectRoot() });
    const command = new StartedProcess(program);
    await eventually(() => assert.match(command.printed(), /^Ready\. /m));
    shop.secret = /whsec_\S+/.exec(command.printed())?.[0] ?? '';
    return command;
  }

  it('is a command that ends with SIGTERM', async () => {
    const command = await startCommand();
    const id = await happen();
    await shopGot([id]);
    command.signal('SIGTERM');
    assert.equal((await command.exited).code, 0);
  });

  it('misses nothing and repeats nothing while the laptop sleeps, which ends its connections', async () => {
    const command = await startCommand();
    const first = await happen();
    await shopGot([first]);
    command.signal('SIGSTOP');
    front.cut();
    const [second, third] = [await happen(), await happen('refund.updated')];
    command.signal('SIGCONT');
    await shopGot([first, second, third]);
    command.signal('SIGTERM');
    assert.equal((await command.exited).code, 0);
  });

  function earlier(seconds: number): string {
    return `${lowestIdAt('evt_', Date.now() - seconds * 1000)}${randomText(20)}`;
  }
});
