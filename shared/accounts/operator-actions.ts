import type { Knex } from '../db/knex.js';
import { OperatorAction } from './model.js';

/** Holds no secrets: the readers of the list may be other operators. */
export interface NewOperatorAction {
  who: string;
  what: string;
  about: string | undefined;
  arguments: Record<string, string>;
}

/** Call in the transaction of the action, so that both are committed or neither. Resolves to the id of the row. */
export async function recordOperatorAction(db: Knex, action: NewOperatorAction): Promise<number> {
  const { id } = await OperatorAction.query(db).insert({ ...action, about: action.about ?? null });
  return id;
}

/** Newest first: the actions on one object, or all. */
export async function listOperatorActions(
  db: Knex,
  limit: number,
  about: string | undefined,
): Promise<OperatorAction[]> {
  const actions = OperatorAction.query(db).orderBy('id', 'desc').limit(limit);
  return await (about === undefined ? actions : actions.where({ about }));
}
