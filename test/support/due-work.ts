import assert from 'node:assert/strict';
import { Payment } from '../../shared/payments/model.js';
import { advanceClock, nowMs } from '../../shared/process/clock.js';
import { confirmPayment } from '../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../workers/jobs/settle-payment.js';
import type { Hands, MoneyFlow } from './money-flow.js';

const MOST_STEPS = 2000;
const AT_ONCE = 20;
/** What is due within this is done at the same time. */
const TOGETHER_MS = 2000;

/**
 * Stands for the time passing until no payment has work to come. No worker may be running. A call that was given up
 * goes on at the facilitator, but in the time that passes here it has ended.
 */
export async function walkDueWork(flow: MoneyFlow, hands: Hands): Promise<void> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    await Promise.all(flow.facilitator.calls.settle.map(({ done }) => done));
    const due = await Payment.query(flow.db).whereNotNull('dueAt').orderBy('dueAt').limit(AT_ONCE);
    const startMs = dueMs(due[0]);
    if (startMs === undefined) return;
    const together = due.filter((payment) => (dueMs(payment) ?? 0) <= startMs + TOGETHER_MS);
    advanceClock(Math.max(0, (dueMs(together.at(-1)) ?? 0) - nowMs() + 1));
    await Promise.all(together.map((payment) => doDue(hands, payment)));
  }
  assert.fail('work is left undone');
}

async function doDue({ deps }: Hands, { id: paymentId, stage }: Payment): Promise<void> {
  if (stage === 'settle') await settlePayment(deps, { paymentId });
  else await confirmPayment(deps, { paymentId });
}

function dueMs(payment: Payment | undefined): number | undefined {
  return payment?.dueAt?.getTime();
}
