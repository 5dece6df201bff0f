import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { CallerKind, Callers } from '../limits/facilitator-shares.js';
import { COUNT_CALLERS, LEAVE_CALLERS } from './statements/facilitator-callers.sql.js';

interface Caller {
  id: string;
  kind: CallerKind;
}

/** Registers this process as a caller of the facilitator and returns the number of callers, this process included. */
export async function countCallers(db: Knex, { id, kind }: Caller): Promise<Callers> {
  const others = await runStatement<{ kind: string; count: number }>(db, COUNT_CALLERS, [id, kind]);
  const countOf = (wanted: CallerKind): number =>
    (others.find((row) => row.kind === wanted)?.count ?? 0) + (wanted === kind ? 1 : 0);
  return { web: countOf('web'), worker: countOf('worker') };
}

export async function leaveCallers(db: Knex, { id }: Pick<Caller, 'id'>): Promise<void> {
  await runStatement(db, LEAVE_CALLERS, [id]);
}
