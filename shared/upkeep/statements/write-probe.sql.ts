import type { Statement } from '../../db/statement.js';

/**
 * A row as large as a page needs a new one, which a full disk does not have, and is taken back within the statement.
 * What remains to be committed is empty, and needs all the same what every commit needs.
 */
export const WRITE_PROBE: Statement = {
  name: undefined,
  text: `
    DO $$ BEGIN
      INSERT INTO write_probes VALUES (repeat('-', 8000));
      RAISE EXCEPTION 'taken back';
    EXCEPTION WHEN raise_exception THEN NULL;
    END $$`,
};
