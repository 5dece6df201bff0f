import assert from 'node:assert/strict';
import { raw } from 'objection';
import { installGate } from '../../lab/explore/system/gate.js';
import { altered, answers, breaksBeforeWork, failsToSettle } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import type { ChainFinding } from '../../shared/chains/check/finding.js';
import { openDatabase } from '../../shared/db/knex.js';
import { Payment } from '../../shared/payments/model.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import type { WorkerDeps } from '../../workers/deps/deps.js';
import type { JobOutcome } from '../../workers/deps/job-outcome.js';
import { confirmPayment } from '../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../workers/jobs/settle-payment.js';
import { forAllTests } from '../support/hooks.js';
import { openMoneyFlow } from '../support/money-flow.js';

const UNREADABLE: ChainFinding = { kind: 'unreadable', reason: 'for this spec' };

describe('a decision that is carried out', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('carried_out', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const manualWorker = forAllTests(() => flow.openManualWorker());
  let enqueued: string[];
  let decided: string[];
  let isStoreAvailable: boolean;
  let finding: ChainFinding | undefined;

  before(async () => {
    const { check, close } = manualWorker.deps.chains;
    Object.assign(manualWorker.deps, {
      queues: {
        ...manualWorker.deps.queues,
        async enqueue({ name, id }: { name: string; id: string }) {
          if (!isStoreAvailable) throw new Error('no queue store');
          enqueued.push(`${name} ${id.split('-')[0]}`);
        },
      },
      notifyDecided: (id: string) => decided.push(id),
      chains: { check: async (query: Parameters<typeof check>[0]) => finding ?? check(query), close },
    } satisfies Partial<WorkerDeps>);
  });
  beforeEach(() => {
    enqueued = [];
    decided = [];
    isStoreAvailable = true;
    finding = undefined;
    manualWorker.log.length = 0;
  });
  afterEach(() => {
    resetClock();
    flow.facilitator.settle.honest();
    flow.facilitator.verify.honest();
  });

  async function claim(): Promise<{ sessionId: string; paymentId: string }> {
    const { id: sessionId } = await flow.buildSession();
    assert.equal((await flow.pay(sessionId)).status, 202);
    return { sessionId, paymentId: (await flow.onlyPayment(sessionId)).id };
  }

  async function run(paymentId: string, deps = manualWorker.deps): Promise<JobOutcome> {
    const { stage, dueAt } = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
    advanceClock(Math.max(0, (dueAt?.getTime() ?? 0) - nowMs() + 1));
    return await (stage === 'settle' ? settlePayment : confirmPayment)(deps, { paymentId });
  }

  it('notifies the request that waits, of success and of failure, and enqueues nothing', async () => {
    const paid = await claim();
    await run(paid.paymentId);
    const refused = await claim();
    flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    await run(refused.paymentId);
    assert.deepEqual([decided, enqueued], [[paid.paymentId, refused.paymentId], []]);
  });

  it('enqueues the check after a call, leaves the next check to its job, and enqueues the next call', async () => {
    const { paymentId } = await claim();
    flow.facilitator.settle.next(breaksBeforeWork());
    assert.deepEqual(await run(paymentId), { kind: 'done' });
    assert.deepEqual(enqueued, [`confirm-payment ${paymentId}`]);

    finding = UNREADABLE;
    flow.facilitator.verify.next(answers(500));
    const checked = await run(paymentId);
    const { dueAt } = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
    assert.deepEqual(checked, { kind: 'again', at: dueAt });
    assert.equal(enqueued.length, 1);

    finding = undefined;
    // The checks go on until a block is later than the last moment at which the call can have ended.
    for (let checks = 0; checks < 10; checks += 1) if ((await run(paymentId)).kind === 'done') break;
    assert.deepEqual(enqueued.slice(1), [`settle-payment ${paymentId}`]);
    await run(paymentId);
    assert.deepEqual([decided, enqueued.length], [[paymentId], 2]);
  });

  it('is carried out though the queue store is unavailable', async () => {
    const { paymentId } = await claim();
    flow.facilitator.settle.next(breaksBeforeWork());
    isStoreAvailable = false;
    assert.deepEqual(await run(paymentId), { kind: 'done' });
    assert.deepEqual(
      manualWorker.log.map(({ event, payment }) => [event, payment]),
      [['queue.job_not_added', paymentId]],
    );
  });

  it('leaves a payment on which workers crashed to the sweep', async () => {
    const { paymentId } = await claim();
    flow.facilitator.settle.next(answers(429));
    await Payment.query(flow.db).patch({ lostTakes: 2 }).where('id', paymentId);
    assert.deepEqual(await run(paymentId), { kind: 'done' });
    const { stage, lostTakes } = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
    assert.deepEqual([stage, lostTakes, enqueued], ['settle', 2, []]);
  });

  for (const [who, payer, reported] of [
    ['of its payer', undefined, 'its own'],
    ['of another payer', `0x${'5a'.repeat(20)}`, null],
  ] as const)
    it(`that another worker has made meanwhile keeps a success ${who} as ${reported ?? 'nothing'}`, async () => {
      const { paymentId } = await claim();
      const { facilitators } = manualWorker.deps;
      let transaction: string | undefined;
      const settleBy: typeof facilitators.settleBy = async (...call) => {
        const answer = await facilitators.settleBy(...call);
        await Payment.query(flow.db)
          .patch({ attempt: raw('attempt + 1') })
          .where('id', paymentId);
        transaction = answer.kind === 'settled' ? answer.transaction : undefined;
        return answer;
      };
      if (payer !== undefined) flow.facilitator.settle.next(altered({ success: true, payer }));
      await run(paymentId, { ...manualWorker.deps, facilitators: { ...facilitators, settleBy } });
      const { reportedTransaction } = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
      assert.ok(transaction);
      assert.equal(reportedTransaction, reported === null ? null : transaction);
    });

  for (const crash of ['write lost', 'write lost but done'] as const)
    it(`is written on another connection when one breaks: ${crash}`, async () => {
      const { sessionId, paymentId } = await claim();
      const db = openDatabase(manualWorker.deps.config.database);
      const gate = installGate(db);
      const { facilitators } = manualWorker.deps;
      const settleBy: typeof facilitators.settleBy = async (...call) => {
        const answer = await facilitators.settleBy(...call);
        gate.arm();
        return answer;
      };
      gate.begin({ crash, taken: async () => undefined });
      await run(paymentId, { ...manualWorker.deps, db, facilitators: { ...facilitators, settleBy } });
      await db.destroy();
      assert.deepEqual(
        manualWorker.log.map(({ event, payment }) => [event, payment]),
        [['payment.written_again', paymentId]],
      );
      assert.equal((await flow.session(sessionId)).status, 'complete');
      assert.equal((await flow.events(sessionId)).length, 1);
    });

  it('is written once Postgres finds a table again that a release or an operator has moved away for a moment', async () => {
    const { sessionId, paymentId } = await claim();
    const { facilitators } = manualWorker.deps;
    const settleBy: typeof facilitators.settleBy = async (...call) => {
      const answer = await facilitators.settleBy(...call);
      await flow.db.raw('ALTER TABLE events RENAME TO moved_events');
      return answer;
    };
    // The facilitator's answer is the only witness.
    finding = UNREADABLE;
    const settled = run(paymentId, { ...manualWorker.deps, facilitators: { ...facilitators, settleBy } });
    try {
      await Promise.race([settled, eventually(() => assert.notEqual(manualWorker.log.length, 0))]);
    } finally {
      await flow.db.raw('ALTER TABLE moved_events RENAME TO events');
    }
    await settled;
    assert.equal((await flow.session(sessionId)).status, 'complete');
    assert.equal((await flow.events(sessionId)).length, 1);
  });
});
