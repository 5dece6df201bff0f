import assert from 'node:assert/strict';
import { refuses } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { presentCheckoutSession } from '../../../shared/checkout-sessions/present.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { beginCheck, beginSettlement, listDueQuarantined } from '../../../shared/settlement/take-work.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const TIMEOUT_MS = 20_000;

describe('payments on which workers crash', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('crashed_on_payments', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0' },
    }),
  );
  after(killProcesses);
  afterEach(resetClock);

  const start = (): Promise<ServiceProcess> =>
    startWorkerProcess({ ...flow.settings, FACILITATOR_SETTLE_TIMEOUT_MS: String(TIMEOUT_MS) });

  async function claim(): Promise<{ sessionId: string; paymentId: string }> {
    const { id: sessionId } = await flow.buildSession();
    assert.equal((await flow.pay(sessionId)).status, 202);
    return { sessionId, paymentId: (await flow.onlyPayment(sessionId)).id };
  }
  const lostTakes = async (id: string): Promise<number> =>
    (await Payment.query(flow.db).findById(id).throwIfNotFound()).lostTakes;

  /** The event's JSON, written by Postgres, equals the presenter's byte for byte. */
  async function assertEventEqualsPresented(sessionId: string): Promise<void> {
    const session = Object.assign(await flow.session(sessionId), {
      payment: await flow.onlyPayment(sessionId),
    });
    const shown = presentCheckoutSession(session, { baseUrl: 'https://pay.example', expand: [] });
    const { rows } = await flow.db.raw('SELECT object::text FROM events WHERE payable_id = ?', [sessionId]);
    assert.deepEqual(rows, [{ object: JSON.stringify(shown) }]);
  }

  it('are taken alone after two crashes, named in the log, and still settled; other payments go on', async () => {
    const crashing = await claim();
    // The first worker crashed before any call, the second crashes during its call to the chain.
    await beginSettlement(flow.db, { id: crashing.paymentId, settleTimeoutMs: TIMEOUT_MS });
    await flow.letTimePass(crashing.sessionId);
    const { onCall } = flow.chain.endpoint;
    // The chain may be called before `start` returns.
    const starting = start();
    flow.chain.endpoint.onCall = () => void starting.then((started) => started.child.kill('SIGKILL'));
    const second = await starting;
    assert.deepEqual(await second.exited, { code: null, signal: 'SIGKILL' });
    flow.chain.endpoint.onCall = onCall;
    assert.equal(await lostTakes(crashing.paymentId), 2);

    await flow.letTimePass(crashing.sessionId);
    const other = await claim();
    const third = await start();
    for (const { sessionId } of [other, crashing])
      await eventually(async () => assert.equal((await flow.session(sessionId)).status, 'complete'));
    const logged = third
      .lines()
      .filter(({ event }) => event === 'work.crashed_on')
      .map(({ work, deaths, ids }) => [work, deaths, ids]);
    assert.deepEqual(logged[0], ['confirm-payment', 2, [crashing.paymentId]]);
    assert.ok(
      logged.every(([, , ids]) => (ids as string[])[0] === crashing.paymentId),
      JSON.stringify(logged),
    );
    await third.kill();
    await flow.assertBooks();
    await assertEventEqualsPresented(other.sessionId);
  });

  it("are due now when Postgres' clock was an hour ahead, and not when that is their pause", async () => {
    const listed = async (): Promise<string[]> => {
      const due = await listDueQuarantined(flow.db, ['confirm'], 10);
      assert.ok(due.every(({ dueAt }) => dueAt.getTime() <= nowMs()));
      return due.map(({ id }) => id);
    };
    const [ahead, pausing] = [await claim(), await claim()];
    for (const [{ paymentId }, crashes] of [
      [ahead, 2],
      [pausing, 9],
    ] as const) {
      const dueAt = new Date(nowMs() + 3_600_000);
      await Payment.query(flow.db)
        .patch({ stage: 'confirm', lostTakes: crashes, dueAt })
        .where({ id: paymentId });
    }
    assert.deepEqual(await listed(), [ahead.paymentId]);
    assert.equal(
      await beginCheck(flow.db, { id: pausing.paymentId, settleTimeoutMs: TIMEOUT_MS }),
      undefined,
    );
    assert.notEqual(
      await beginCheck(flow.db, { id: ahead.paymentId, settleTimeoutMs: TIMEOUT_MS }),
      undefined,
    );
  });

  it('are taken again later after each crash, and crashes alone never fail them', async () => {
    const { sessionId, paymentId } = await claim();
    const leases: number[] = [];
    await beginSettlement(flow.db, { id: paymentId, settleTimeoutMs: TIMEOUT_MS });
    for (let crash = 2; crash <= 9; crash += 1) {
      const { dueAt } = await flow.onlyPayment(sessionId);
      advanceClock(Math.max(0, (dueAt?.getTime() ?? 0) - nowMs() + 1));
      const taken = await beginCheck(flow.db, { id: paymentId, settleTimeoutMs: TIMEOUT_MS });
      leases.push(Math.round(((taken?.dueAt?.getTime() ?? 0) - nowMs()) / 60_000));
    }
    assert.deepEqual(leases, [1, 1, 2, 3, 5, 9, 17, 33]);
    assert.equal((await flow.onlyPayment(sessionId)).status, 'processing');
    const manualWorker = flow.openManualWorker();
    flow.facilitator.verify.always(refuses('unexpected_verify_error'));
    await manualWorker.doNext(paymentId);
    assert.equal(await lostTakes(paymentId), 0, 'an outcome was written');
    flow.facilitator.verify.honest();
  });
});
