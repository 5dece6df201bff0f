import type { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import type { CarriedOut } from '../../shared/settlement/carry-out.js';
import type { Decision } from '../../shared/settlement/policy/decision.js';
import type { WorkerDeps } from './deps.js';

/**
 * Measures how long a buyer has waited, when a payment in processing is decided. Late money is left out: no buyer waited.
 */
export function measureWait(
  { facilitators, metrics }: Pick<WorkerDeps, 'facilitators' | 'metrics'>,
  { status, network, facilitator, arrivedAt, claimedAt }: Payment,
  { decision, written }: { decision: Pick<Decision, 'kind'>; written: CarriedOut['kind'] },
): void {
  const isFinal = decision.kind === 'succeed' || decision.kind === 'fail';
  if (!isFinal || written !== 'done' || status !== 'processing') return;
  const ms = nowMs() - (arrivedAt ?? claimedAt).getTime();
  metrics.paymentDecided({ facilitator: facilitators.nameOf(facilitator), network }, Math.max(0, ms) / 1000);
}
