import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { answer } from '../../lab/world/receiver/receiver.js';
import { MAX_WEBHOOK_BYTES_IN_FLIGHT } from '../../shared/limits/bounds.js';
import { takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { type Crowd, openCrowd } from '../support/batch-of-payers.js';
import { openWebhookFlow, ROOM, type WebhookFlow } from '../support/webhook-flow.js';

/** Of the heaviest kind that a session can be, as its event tells of it. */
const METADATA = Object.fromEntries(
  Array.from({ length: 50 }, (_, n) => [`key ${n}`.padEnd(40, '.'), '\u{1f4b0}'.repeat(500)]),
);
const LEAST_BYTES = 50 * 500 * 4;
/** One of 400 slots. */
const BYTES_PER_SLOT = Math.ceil(MAX_WEBHOOK_BYTES_IN_FLIGHT / 400);

describe('events that are heavy', function () {
  this.timeout(120_000);
  let flow: WebhookFlow;
  let crowd: Crowd;
  beforeEach(async () => {
    flow = await openWebhookFlow('webhooks_heavy', { worker: false });
  });
  afterEach(async () => {
    await crowd.close();
    await flow.close();
  });

  const bytesOf = (): number => crowd.got().reduce((sum, { raw }) => sum + Buffer.byteLength(raw), 0);

  it('are in flight by bytes: an account has at most its share of these, too', async () => {
    crowd = await openCrowd(flow.app, { hosts: 25, endpointsPerHost: 4 });
    const calm = await openCrowd(flow.app, { hosts: 1, endpointsPerHost: 1 });
    calm.react(answer(200));
    await flow.startWorker();
    await crowd.tell(4, { metadata: METADATA });
    await eventually(() => assert.ok(bytesOf() > MAX_WEBHOOK_BYTES_IN_FLIGHT / 3));
    await calm.tell(1);
    await eventually(() => assert.equal(calm.got().length, 1));
    assert.ok(bytesOf() <= MAX_WEBHOOK_BYTES_IN_FLIGHT / 2 + 2 * LEAST_BYTES, `${bytesOf()} bytes`);
    await calm.close();
  });

  it('all arrive, light and heavy in any order, and each once', async () => {
    crowd = await openCrowd(flow.app, { hosts: 1, endpointsPerHost: 2 });
    crowd.react(answer(200));
    for (let n = 0; n < 10; n += 1) {
      await crowd.tell(3, { quietly: true });
      await crowd.tell(3, { quietly: true, metadata: METADATA });
    }
    await flow.startWorker();
    for (const id of crowd.endpointIds) await flow.untilSucceeded(id, 60);
    assert.equal(crowd.got().length, 120);
  });

  it('are taken up to the slots that are free, and one beyond: none is too heavy for ever', async () => {
    crowd = await openCrowd(flow.app, { hosts: 1, endpointsPerHost: 5 });
    await crowd.tell(5, { quietly: true, metadata: METADATA });
    const room = { ...ROOM, bytesPerSlot: BYTES_PER_SLOT };
    const weight = Math.ceil(LEAST_BYTES / BYTES_PER_SLOT);
    const take = async (slots: number) =>
      await takeDueDeliveries(flow.db, crowd.accountId, { ...room, slots });
    const first = await take(1);
    assert.deepEqual([first.deliveries.length, first.left], [1, 'now']);
    const second = await take(20);
    assert.ok(second.deliveries.length <= Math.ceil(20 / weight), `${second.deliveries.length} taken`);
    assert.ok(second.deliveries.length > 1);
    assert.equal(second.left, 'now');
    // Not one of those that were left out is any the worse for it.
    const rows = await Promise.all(crowd.endpointIds.map((id) => flow.deliveries(id)));
    const taken = rows.flat().filter(({ attempt }) => attempt > 0);
    assert.equal(taken.length, 1 + second.deliveries.length);
  });
});
