import type { Statement } from '../../db/statement.js';

/**
 * A row as large as a page needs a new page, which a full disk does not have. The exception rolls the row back, so the
 * table stays empty, and the commit still writes to the WAL.
 */
export const WRITE_PROBE: Statement = {
  text: `
    DO $$ BEGIN
      INSERT INTO write_probes VALUES (repeat('-', 8000));
      RAISE EXCEPTION 'rolled back';
    EXCEPTION WHEN raise_exception THEN NULL;
    END $$`,
};
