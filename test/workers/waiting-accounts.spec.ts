import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildEndpoints, buildMerchant } from '../../lab/world/shop/factories.js';
import { leaveToSweep } from '../../shared/queues/delivery-notifier.js';
import { Deliverer } from '../../workers/jobs/deliver-webhook.js';
import type { OutgoingWebhook, Sender, Sent } from '../../workers/webhook-delivery/sender.js';
import { recordExpired } from '../support/busy-account.js';
import { forAllTests } from '../support/hooks.js';
import { openManualWorker } from '../support/money-flow.js';
import { stopClock } from '../support/stopped-clock.js';
import { openWebhookFlow } from '../support/webhook-flow.js';

/** A process with one job has 200 slots. */
const SLOTS = 200;
/** One endpoint has ten slots. Then each account with many hosts gets half of the slots that are free. */
const TRIES_AFTER_EACH = [10, 105, 153, 177, 189, 195, 198, 199, SLOTS];
const MANY_HOSTS = 25;
/** More than may be in flight to one endpoint. */
const EVENTS = 12;
const SUCCESS: Sent = { result: { kind: 'answered', status: 200, answer: '' }, durationMs: 1 };

describe('an account that waits for a slot', () => {
  const flow = forAllTests(() =>
    openWebhookFlow('waiting_accounts', { worker: false, environment: { WORKER_CONCURRENCY: '1' } }),
  );
  afterEach(() => mock.restoreAll());

  async function addAccount(hosts: number): Promise<string> {
    const { accountId } = await buildMerchant(flow.db);
    const sealedSecret = flow.app.secretBox.seal('whsec_c2VjcmV0');
    for (let n = 1; n <= hosts; n += 1)
      await buildEndpoints(flow.db, accountId, 1, { url: `https://host-${n}.example`, sealedSecret });
    await recordExpired(flow.db, { accountId, metadata: {} }, EVENTS, leaveToSweep);
    return accountId;
  }

  it('gets the slot that a success frees, before the next delivery to the same endpoint', async () => {
    const tries: { webhook: OutgoingWebhook; end(sent: Sent): void }[] = [];
    const sender: Sender = {
      send: (webhook) => new Promise((end) => tries.push({ webhook, end })),
      close: async () => undefined,
    };
    const { deps } = openManualWorker(flow.app.config, flow.db);
    const deliverer = new Deliverer(deps, sender);
    // A try of more than a second would not pass its slot on.
    stopClock();
    for (const [index, expected] of TRIES_AFTER_EACH.entries()) {
      await deliverer.deliverTo(await addAccount(index === 0 ? 1 : MANY_HOSTS));
      await eventually(() => assert.equal(tries.length, expected));
    }
    const late = await addAccount(1);
    await deliverer.deliverTo(late);
    assert.equal(tries.length, SLOTS, 'a slot was free');
    tries[0]?.end(SUCCESS);
    await eventually(() => assert.equal(tries.length, SLOTS + 1));
    assert.equal(tries.at(-1)?.webhook.accountId, late);
    const closed = deliverer.close();
    for (const { end } of tries) end(SUCCESS);
    await closed;
    await deps.facilitators.close();
    deps.chains.close();
  });
});
