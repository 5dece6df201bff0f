import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { answer } from '../../../lab/world/receiver/receiver.js';
import { MAX_WEBHOOK_BYTES_IN_FLIGHT } from '../../../shared/limits/bounds.js';
import { takeDueDeliveries } from '../../../shared/webhooks/take-due.js';
import { type BusyAccount, openBusyAccount } from '../../support/busy-account.js';
import { forAllTests } from '../../support/hooks.js';
import { ALLOWANCE, openWebhookFlow } from '../../support/webhook-flow.js';

/** Metadata of the largest size that an event's session can have. */
const METADATA = Object.fromEntries(
  Array.from({ length: 50 }, (_, n) => [`key ${n}`.padEnd(40, '.'), '\u{1f4b0}'.repeat(500)]),
);
const LEAST_BYTES = 50 * 500 * 4;
/** The part of the byte budget for one of 400 slots. */
const BYTES_OF_ONE = Math.ceil(MAX_WEBHOOK_BYTES_IN_FLIGHT / 400);

describe('heavy webhook events', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_heavy', { worker: false }));
  let busy: BusyAccount;
  afterEach(async () => {
    await busy.close();
    await flow.startOver();
  });

  const bytesOf = (): number => busy.got().reduce((sum, { raw }) => sum + Buffer.byteLength(raw), 0);

  it('are limited by bytes in flight: an account gets at most its share', async () => {
    busy = await openBusyAccount(flow.app, { hosts: 25, endpointsPerHost: 4 });
    const quiet = await openBusyAccount(flow.app, { hosts: 1, endpointsPerHost: 1 });
    quiet.react(answer(200));
    await flow.startWorker();
    await busy.sendEvents(4, { metadata: METADATA });
    await eventually(() => assert.ok(bytesOf() > MAX_WEBHOOK_BYTES_IN_FLIGHT / 3));
    await quiet.sendEvents(1);
    await eventually(() => assert.equal(quiet.got().length, 1));
    assert.ok(bytesOf() <= MAX_WEBHOOK_BYTES_IN_FLIGHT / 2 + 2 * LEAST_BYTES, `${bytesOf()} bytes`);
    await quiet.close();
  });

  it('are all delivered once, mixed with light ones', async () => {
    busy = await openBusyAccount(flow.app, { hosts: 1, endpointsPerHost: 2 });
    busy.react(answer(200));
    for (let n = 0; n < 10; n += 1) {
      await busy.sendEvents(3, { leftToSweep: true });
      await busy.sendEvents(3, { leftToSweep: true, metadata: METADATA });
    }
    await flow.startWorker();
    for (const id of busy.endpointIds) await flow.untilSucceeded(id, 60);
    assert.equal(busy.got().length, 120);
  });

  it('are taken up to the free slots and one beyond, so that none is ever too heavy', async () => {
    busy = await openBusyAccount(flow.app, { hosts: 1, endpointsPerHost: 5 });
    await busy.sendEvents(5, { leftToSweep: true, metadata: METADATA });
    const room = { ...ALLOWANCE, bytesPerSlot: BYTES_OF_ONE };
    const weight = Math.ceil(LEAST_BYTES / BYTES_OF_ONE);
    const take = async (slots: number) =>
      await takeDueDeliveries(flow.db, busy.accountId, { ...room, slots });
    const first = await take(1);
    assert.deepEqual([first.deliveries.length, first.left], [1, 'now']);
    const second = await take(20);
    assert.ok(second.deliveries.length <= Math.ceil(20 / weight), `${second.deliveries.length} taken`);
    assert.ok(second.deliveries.length > 1);
    assert.equal(second.left, 'now');
    // Deliveries that were left out are not marked as taken.
    const rows = await Promise.all(busy.endpointIds.map((id) => flow.deliveries(id)));
    const taken = rows.flat().filter(({ attempt }) => attempt > 0);
    assert.equal(taken.length, 1 + second.deliveries.length);
  });
});
