import type { Knex } from '../db/knex.js';
import { OperatorAction } from './model.js';

/** Never a secret: whoever reads the list need not be who acts. */
export interface NewOperatorAction {
  who: string;
  what: string;
  about: string | undefined;
  arguments: Record<string, string>;
}

/** In the transaction of what was done, so that neither is there without the other. */
export async function recordOperatorAction(db: Knex, action: NewOperatorAction): Promise<void> {
  await OperatorAction.query(db).insert({ ...action, about: action.about ?? null });
}

/** The newest first. */
export async function listOperatorActions(db: Knex, limit: number): Promise<OperatorAction[]> {
  return await OperatorAction.query(db).orderBy('id', 'desc').limit(limit);
}
