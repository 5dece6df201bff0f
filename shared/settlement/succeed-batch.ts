import { batchWrites, LINGER_MS } from '../db/batch-writes.js';
import { runStatement } from '../db/statement.js';
import { SESSION_MOVES } from '../payables/states.js';
import { Payment } from '../payments/model.js';
import { presentPayment } from '../payments/present.js';
import { type Observation, PAYMENT_MOVES } from '../payments/states.js';
import { now } from '../process/clock.js';
import { newId } from '../values/ids.js';
import { SUCCEED } from './statements/succeed-batch.sql.js';
import { succeedPayment, type VerdictDeps, type VerdictResult } from './write-verdict.js';

/**
 * The usual verdict: the facilitator has settled a payment that holds its session, and no late money has come. One
 * statement does for all of the moment what the transaction in write-verdict.ts does for one, locks and guards as it does,
 * and leaves to it whatever is not so. The event is made there too, so that a session's weight is Postgres' alone.
 */
export interface Settled {
  payment: Payment;
  transaction: string;
  payer: string | undefined;
  observation: Omit<Observation, 'at'>;
}

export async function succeedSettled(deps: VerdictDeps, settled: Settled): Promise<VerdictResult> {
  return await succeedInGroup(deps.db, { deps, settled, settledAt: now(), eventId: newId('evt_') });
}

interface Success {
  deps: VerdictDeps;
  settled: Settled;
  settledAt: Date;
  eventId: string;
}

const succeedInGroup = batchWrites<Success, VerdictResult>({
  keyOf: ({ settled }) => settled.payment.checkoutSessionId,
  lingerMs: LINGER_MS,
  async writeBatch(db, successes) {
    const list = JSON.stringify(successes.map(rowOf));
    const values = [list, SESSION_MOVES.claim.to, PAYMENT_MOVES.succeed.from, now()];
    const written = await runStatement<WrittenEvent>(db, SUCCEED, values);
    const endpointIdsOf = new Map(written.map(({ eventId, endpointIds }) => [eventId, endpointIds]));
    return successes.map((success) => announce(success, endpointIdsOf.get(success.eventId)));
  },
  async writeOne(_db, { deps, settled: { payment, transaction, payer, observation } }) {
    const proof = { transaction, payer, proofIndex: undefined };
    return await succeedPayment(deps, payment, { proof, said: observation });
  },
  onBrokenConnection: (_db, _success, error) => Promise.reject(error),
});

interface WrittenEvent {
  eventId: string;
  endpointIds: string[];
}

/** Committed: who delivers hears of it. */
function announce(
  { deps, settled: { payment }, eventId }: Success,
  endpointIds: readonly string[] | undefined,
): 'done' | undefined {
  if (endpointIds === undefined) return undefined;
  deps.notifyDeliveries({ eventId, accountIds: endpointIds.length === 0 ? [] : [payment.accountId] });
  deps.logger.info({ event: 'session.completed', session: payment.checkoutSessionId, payment: payment.id });
  return 'done';
}

function rowOf({ settled, settledAt, eventId }: Success): object {
  const { payment, transaction, payer, observation } = settled;
  const { to: status } = PAYMENT_MOVES.succeed;
  const succeeded = Object.assign(new Payment(), payment, {
    status,
    transaction,
    payer: payer ?? payment.payer,
    settledAt,
  });
  return {
    id: payment.id,
    attempt: payment.attempt,
    session_id: payment.checkoutSessionId,
    transaction,
    payer: succeeded.payer,
    settled_at: settledAt,
    observation: { at: settledAt, ...observation },
    event_id: eventId,
    shown: presentPayment(succeeded),
  };
}
