import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock } from '../../../shared/process/clock.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import { PAID } from '../../support/checkout.js';
import { runJson } from '../../support/cli.js';
import { useCliDatabase } from '../../support/cli-database.js';
import { emptyTables } from '../../support/empty-tables.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

/** Longer than a call of /settle and the work that follows it. */
const LONGEST_CALL_MS = 61_000;

describe('a database restored from a backup with payments that were claimed and not yet sent to /settle', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('restored', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const sessions: Record<'settled' | 'asking' | 'waiting', string> = { settled: '', asking: '', waiting: '' };

  useCliDatabase(() => flow.databaseUrl);

  describe('after reconcile-restore, before workers start', () => {
    before(async () => {
      for (const name of ['settled', 'asking', 'waiting'] as const) {
        const { id } = await flow.buildSession();
        sessions[name] = id;
        assert.equal((await flow.pay(id)).status, 202);
      }
      const backup = await takeBackup();

      // After the backup, one payment is settled, and a worker is stopped during the call for another.
      const manualWorker = flow.openManualWorker();
      await settlePayment(manualWorker.deps, { paymentId: await paymentOf('settled') });
      assert.deepEqual(await flow.state(sessions.settled), PAID);
      const held = flow.facilitator.settle.holdNext();
      const asking = settlePayment(manualWorker.deps, { paymentId: await paymentOf('asking') });
      const call = await flow.facilitator.waitForCall('settle', 2);
      await manualWorker.deps.facilitators.close();
      await asking;

      await restore(backup);
      assert.equal((await flow.session(sessions.settled)).status, 'processing');
      const { payments } = await runJson('reconcile-restore');
      assert.deepEqual(payments.map(({ checkout_session: id }) => id).sort(), Object.values(sessions).sort());
      await flow.startWorker();
      await eventually(async () => {
        for (const name of ['asking', 'waiting'] as const) {
          const { history } = await flow.onlyPayment(sessions[name]);
          assert.deepEqual(
            history.map(({ said }) => said),
            ['unused'],
          );
        }
      });
      held.release();
      await call.done;
    });

    async function paymentOf(name: keyof typeof sessions): Promise<string> {
      return (await flow.onlyPayment(sessions[name])).id;
    }

    interface Backup {
      sessions: CheckoutSession[];
      payments: Payment[];
    }

    /** A backup with payments that were claimed two minutes ago. */
    async function takeBackup(): Promise<Backup> {
      await flow.db.raw(`UPDATE payments SET claimed_at = claimed_at - interval '2 min'`);
      const backup = {
        sessions: await CheckoutSession.query(flow.db),
        payments: await Payment.query(flow.db),
      };
      for (const { stage, settleCalls } of backup.payments)
        assert.deepEqual([stage, settleCalls], ['settle', 0]);
      return backup;
    }

    async function restore(backup: Backup): Promise<void> {
      await emptyTables(flow.db, 'payables', 'payments', 'events', 'webhook_deliveries');
      await CheckoutSession.query(flow.db).insert(
        backup.sessions.map((row) => ({ ...row, paymentId: null })),
      );
      await Payment.query(flow.db).insert(backup.payments);
      for (const { id, paymentId } of backup.sessions) {
        await CheckoutSession.query(flow.db).findById(id).patch({ paymentId });
      }
    }

    const settleCalls = async (name: keyof typeof sessions): Promise<number> => {
      const { payload } = await flow.onlyPayment(sessions[name]);
      const { nonce } = (payload as { authorization: { nonce: string } }).authorization;
      return flow.facilitator.callsOf('settle', nonce.toLowerCase()).length;
    };

    it('completes the payment that was settled since from the chain, without a second call', async () => {
      await eventually(async () => assert.deepEqual(await flow.state(sessions.settled), PAID));
      assert.equal(await settleCalls('settled'), 1);
    });

    it('does not repeat the call that the facilitator completed after the restore', async () => {
      await flow.becomes(sessions.asking, PAID);
      assert.equal(await settleCalls('asking'), 1);
    });

    it('sends the third payment once no earlier call can still be in flight', async () => {
      assert.equal(await settleCalls('waiting'), 0);
      advanceClock(LONGEST_CALL_MS);
      await eventually(async () => {
        await flow.enqueueDueWork(sessions.waiting);
        assert.deepEqual(await flow.state(sessions.waiting), PAID);
      });
      assert.equal(await settleCalls('waiting'), 1);
      await flow.assertBooks();
    });
  });
});
