import assert from 'node:assert/strict';
import { installGate } from '../../../lab/explore/system/gate.js';
import { failsToSettle } from '../../../lab/world/facilitator/dial.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { takeToSettle } from '../../../shared/settlement/take-work.js';
import { confirmPayment } from '../../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

describe('a postponed call that is written twice, because the answer to its COMMIT was lost', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('postponed_twice', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const worker = forAllTests(() => flow.openManualWorker());
  afterEach(() => {
    resetClock();
    flow.facilitator.settle.honest();
  });

  const row = (id: string): PromiseLike<Payment> => Payment.query(flow.db).findById(id).throwIfNotFound();

  async function untilDue(id: string): Promise<void> {
    const { dueAt } = await row(id);
    advanceClock(Math.max(0, (dueAt?.getTime() ?? 0) - nowMs() + 1));
  }

  /** The first call is postponed; the decision is written, and the connection breaks before Postgres' answer. */
  async function postpone(): Promise<string> {
    const { id: sessionId } = await flow.buildSession();
    assert.equal((await flow.pay(sessionId)).status, 202);
    const { id } = await flow.onlyPayment(sessionId);
    const db = openDatabase(worker.deps.config.database);
    const gate = installGate(db);
    const facilitators: typeof worker.deps.facilitators = {
      ...worker.deps.facilitators,
      settleBy: async () => {
        gate.arm();
        return { kind: 'postponed', why: 'full', forMs: 1000 };
      },
    };
    gate.begin({ crash: 'write lost but done', taken: async () => undefined });
    await untilDue(id);
    await settlePayment({ ...worker.deps, db, facilitators }, { paymentId: id });
    await db.destroy();
    return id;
  }

  it('is counted out once', async () => {
    const { settleCalls, lostTakes, stage } = await row(await postpone());
    assert.deepEqual({ settleCalls, lostTakes, stage }, { settleCalls: 0, lostTakes: 0, stage: 'settle' });
  });

  it('does not hide that the next call, in which a worker crashes, has no known outcome', async () => {
    const paymentId = await postpone();
    await untilDue(paymentId);
    assert.ok(await takeToSettle(worker.deps, paymentId)); // The worker crashes here.
    await untilDue(paymentId);
    // The crashed call's transaction is not in a block yet.
    const unused: ChainFinding = {
      kind: 'unused',
      chainTime: new Date(nowMs() + 60_000),
      exhausted: false,
    };
    const chains = { check: async () => unused, close: () => undefined };
    await confirmPayment({ ...worker.deps, chains }, { paymentId });
    await untilDue(paymentId);
    flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    await settlePayment(worker.deps, { paymentId });
    const { status, failureCode, settleUnclear } = await row(paymentId);
    assert.deepEqual(
      { status, failureCode, settleUnclear },
      { status: 'processing', failureCode: null, settleUnclear: true },
    );
  });
});
