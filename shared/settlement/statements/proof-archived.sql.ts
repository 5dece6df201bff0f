import type { Statement } from '../../db/statement.js';

/** Whether another payment, which is in the tables no more, was proved by this transfer. */
export const PROOF_ARCHIVED: Statement = {
  name: 'proof_archived',
  text: `
    SELECT FROM payment_marks
    WHERE network = $1 AND transaction = $2 AND proof_index = $3 AND payment_id <> $4`,
};
