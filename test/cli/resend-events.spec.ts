import assert from 'node:assert/strict';
import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { buildEndpoints, buildMerchant } from '../../lab/world/shop/factories.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { recordSessionEvents } from '../../shared/checkout-sessions/record-events.js';
import { MAX_ENDPOINTS_PER_MODE } from '../../shared/limits/bounds.js';
import { WebhookDelivery } from '../../shared/webhooks/model.js';
import { client } from '../support/api-client.js';
import { assertRefused, runCommand, runJson, saidBy } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { EVENT_DEPS } from '../support/money-flow.js';
import { untilOneWaits } from '../support/until-one-waits.js';
import { openWebhookFlow, type WebhookFlow } from '../support/webhook-flow.js';

describe('merchants resend-events', () => {
  let flow: WebhookFlow;
  let start: string;
  before(async () => {
    start = new Date().toISOString();
    flow = await openWebhookFlow('resend_events', { worker: false });
  });
  useCliDatabase(() => flow.databaseUrl);
  after(() => flow.close());

  const idsOf = async (endpoint: string): Promise<string[]> =>
    (await flow.deliveries(endpoint)).map(({ eventId }) => eventId);

  it('delivers the events of a time again, the oldest first, to the endpoints that want them now', async () => {
    const early = await flow.addEndpoint();
    await flow.expireWithoutNotifying(450);
    const middle = new Date().toISOString();
    await flow.expireWithoutNotifying(3);
    const late = await flow.addEndpoint();
    const other = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
    const before_ = (await idsOf(early.id)).length;

    const { events, deliveries } = await runJson('resend-events', '--since', start);
    assert.deepEqual([before_, events, deliveries], [453, 453, 906]);
    assert.deepEqual(await idsOf(late.id), (await idsOf(early.id)).slice(0, 453));
    assert.deepEqual(await idsOf(other.id), []);
    const due = await WebhookDelivery.query(flow.db).where({ endpointId: late.id, status: 'pending' });
    assert.ok(due.every(({ dueAt }) => dueAt !== null));

    const first = await runJson('resend-events', '--since', start, '--until', middle, '--endpoint', late.id);
    assert.deepEqual([first.events, first.deliveries], [450, 450]);
    const last = await runJson('resend-events', '--since', middle, '--type', 'checkout.session.expired');
    assert.deepEqual([last.events, last.deliveries], [3, 6]);
    const none = await runJson('resend-events', '--since', middle, '--type', 'checkout.session.completed');
    assert.deepEqual([none.events, none.deliveries], [0, 0]);
  });

  it('keeps to one account, in both modes, or to one endpoint', async () => {
    const since = new Date().toISOString();
    const stranger = await buildMerchant(flow.db);
    const url = 'https://127.0.0.1:1/';
    const live = await flow.addEndpoint({ url }, client(flow.app, stranger.liveKey));
    const test = await flow.addEndpoint({}, client(flow.app, stranger.testKey));
    await flow.expireWithoutNotifying(2);
    for (const livemode of [true, false]) {
      const session = await flow.buildSession({ accountId: stranger.accountId, livemode });
      const stored = await CheckoutSession.query(flow.db).findById(session.id).throwIfNotFound();
      await flow.db.transaction((trx) =>
        recordSessionEvents(trx, 'checkout.session.expired', [stored], EVENT_DEPS),
      );
    }
    const own = await runJson('resend-events', '--since', since, '--account', stranger.accountId);
    assert.deepEqual([own.events, own.deliveries], [2, 2]);
    assert.deepEqual([(await idsOf(live.id)).length, (await idsOf(test.id)).length], [2, 2]);
    const one = await runJson('resend-events', '--since', since, '--endpoint', test.id);
    assert.deepEqual([one.events, one.deliveries], [1, 1]);
  });

  it('says which events may have been sent when Postgres does not answer, and where to go on', async () => {
    await flow.db('webhookEndpoints').update({ status: 'disabled' });
    const since = new Date().toISOString();
    const { id } = await flow.addEndpoint();
    await flow.expireWithoutNotifying(3);
    const proxy = await TcpProxy.start(flow.databaseUrl);
    process.env.DATABASE_URL = proxy.url;
    proxy.cutNext(/INSERT INTO webhook_deliveries/, { answerBytes: 0 });
    const ran = await runCommand('resend-events', '--since', since, '--json').finally(() => {
      process.env.DATABASE_URL = flow.databaseUrl;
    });
    await proxy.refuse();
    const said =
      /^Stopped after 0 events: .+\. The next 3 may have been sent as well\. Go on with --since (\S+)\.\n$/;
    assert.match(saidBy(ran), said);
    const { events, deliveries } = JSON.parse(ran.stdout);
    assert.deepEqual([ran.status, events, deliveries], [1, 0, 0]);
    assert.equal((await idsOf(id)).length, 6);
    const rest = await runJson('resend-events', '--since', said.exec(saidBy(ran))?.[1] ?? '');
    assert.equal(rest.events, 3);
  });

  it('says the same when a signal ends it', async () => {
    await flow.db('webhookEndpoints').update({ status: 'disabled' });
    const since = new Date().toISOString();
    await flow.addEndpoint();
    await flow.expireWithoutNotifying(3);
    await ensureBuilt(projectRoot());
    const environment = { DATABASE_URL: flow.databaseUrl };
    await flow.db.transaction(async (lock) => {
      await lock.raw('LOCK TABLE webhook_deliveries IN EXCLUSIVE MODE');
      const program = nodeProgram(['local/commands/merchants.mjs', 'resend-events', '--since', since], {
        environment,
      });
      const command = new StartedProcess(program);
      await untilOneWaits(flow.db);
      command.signal('SIGTERM');
      const { code, stderr } = await command.ran();
      assert.equal(code, 143);
      assert.match(
        saidBy({ stderr }),
        /^Ended by SIGTERM\. .+ stays.+\. The next 3 may have been sent as well\. Go on with --since \S+Z\.\n$/,
      );
    });
  });

  it('delivers to as many endpoints as an account can have, in statements of a bounded size', async () => {
    const { accountId } = flow.merchant;
    await flow.db('webhookEndpoints').where({ accountId }).update({ status: 'disabled' });
    const since = new Date().toISOString();
    await flow.expireWithoutNotifying(15);
    const endpoints = await buildEndpoints(flow.db, accountId, MAX_ENDPOINTS_PER_MODE);
    const { events, deliveries } = await runJson('resend-events', '--since', since);
    assert.deepEqual([events, deliveries], [15, 15 * MAX_ENDPOINTS_PER_MODE]);
    // A statement gives its deliveries ids that begin alike.
    const { rows } = await flow.db.raw(
      `SELECT count(*)::int AS count, count(DISTINCT (event_id, endpoint_id))::int AS pairs
       FROM webhook_deliveries WHERE endpoint_id = ANY (?) GROUP BY left(id, 14) ORDER BY 1`,
      [endpoints],
    );
    assert.deepEqual(rows, [
      { count: 5000, pairs: 5000 },
      { count: 10_000, pairs: 10_000 },
    ]);
  });

  it('refuses what it cannot use with one line', async () => {
    await assertRefused(/--since is missing/, 'resend-events');
    await assertRefused(/--since must be a past date/, 'resend-events', '--since', '2999-01-01');
    await assertRefused(/--since must be a past date/, 'resend-events', '--since', '2026-02-30');
    await assertRefused(/--since must be a past date/, 'resend-events', '--since', 'yesterday');
    const range = ['--since', '2026-01-02', '--until', '2026-01-01'];
    await assertRefused(/--since must be earlier/, 'resend-events', ...range);
    const since = ['--since', start];
    await assertRefused(/--type must be one of/, 'resend-events', ...since, '--type', 'payment.made');
    await assertRefused(/No such account/, 'resend-events', ...since, '--account', 'acct_none');
    await assertRefused(
      /No such enabled webhook endpoint/,
      'resend-events',
      ...since,
      '--endpoint',
      'we_none',
    );
  });
});
