import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { READ_POSITION, WRITE_POSITION } from './statements/positions.sql.js';

/**
 * `report` and `repair`: an operator's command, without and with repairs. A report goes on from the end of a repair too,
 * since the repair reported everything up to there; a repair reads the range of earlier reports again. `worker`: the regular
 * run.
 */
export type Reader = 'report' | 'repair' | 'worker';

/** A list of transfers or payments that is read from a beginning to an end. */
interface ReadList {
  reader: Reader;
  /** The id of an account, or `all`. */
  part: string;
  network: string;
  /** A token account, or what else is read on the network. */
  list: string;
}

export interface Position {
  /** The first block or slot that the next run reads, or a time in milliseconds. */
  position: number;
  /** The names of the arrivals reported from there on and in blocks or slots of `unchecked`, each with its block or slot. */
  reported: readonly (readonly [string, number])[];
  /** The next run looks at these again: ids of payments, or transfers, each as its block or slot and its name. */
  unchecked: readonly string[];
  /** All before this time has been read; null when that is not known. */
  readUntil: Date | null;
}

export async function readPosition(
  db: Knex,
  { reader, part, network, list }: ReadList,
): Promise<Position | undefined> {
  const readers: Reader[] = reader === 'report' ? ['report', 'repair'] : [reader];
  const [row] = await runStatement<Position>(db, READ_POSITION, [readers, part, network, list]);
  return row;
}

export async function writePosition(
  db: Knex,
  { reader, part, network, list }: ReadList,
  { position, reported, unchecked, readUntil }: Position,
): Promise<void> {
  const stored = [position, JSON.stringify(reported), JSON.stringify(unchecked), readUntil];
  await runStatement(db, WRITE_POSITION, [reader, part, network, list, ...stored]);
}
