import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';

/** Of the payment that its payable ended with; of one that nobody has paid there is none. */
const TRACE_OF_EVENT = {
  name: 'trace-of-event',
  text: `
  SELECT payment.trace FROM events event
  JOIN payables payable ON payable.id = event.checkout_session_id
  JOIN payments payment ON payment.id = payable.payment_id
  WHERE event.id = $1`,
};

export async function traceOfEvent(db: Knex, eventId: string): Promise<string | null> {
  const [row] = await runStatement<{ trace: string | null }>(db, TRACE_OF_EVENT, [eventId]);
  return row?.trace ?? null;
}
