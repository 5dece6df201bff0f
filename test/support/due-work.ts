import assert from 'node:assert/strict';
import { Payment } from '../../shared/payments/model.js';
import { advanceClock, nowMs } from '../../shared/process/clock.js';
import { confirmPayment } from '../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../workers/jobs/settle-payment.js';
import type { ManualWorker, MoneyFlow } from './money-flow.js';

const MOST_STEPS = 2000;
const AT_ONCE = 20;
/** Work that is due within this time is done at once. */
const TOGETHER_MS = 2000;

/**
 * Moves the clock until no payment has due work. Requires that no worker is running. A call that was given up goes
 * on at the facilitator, and has ended by the time that passes here.
 */
export async function doAllDueWork(flow: MoneyFlow, manualWorker: ManualWorker): Promise<void> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    await Promise.all(flow.facilitator.calls.settle.map(({ done }) => done));
    const due = await Payment.query(flow.db).whereNotNull('dueAt').orderBy('dueAt').limit(AT_ONCE);
    const startMs = dueMs(due[0]);
    if (startMs === undefined) return;
    const together = due.filter((payment) => (dueMs(payment) ?? 0) <= startMs + TOGETHER_MS);
    advanceClock(Math.max(0, (dueMs(together.at(-1)) ?? 0) - nowMs() + 1));
    await Promise.all(together.map((payment) => doDue(manualWorker, payment)));
  }
  assert.fail('due work is left');
}

async function doDue({ deps }: ManualWorker, { id: paymentId, stage }: Payment): Promise<void> {
  if (stage === 'settle') await settlePayment(deps, { paymentId });
  else await confirmPayment(deps, { paymentId });
}

function dueMs(payment: Payment | undefined): number | undefined {
  return payment?.dueAt?.getTime();
}
