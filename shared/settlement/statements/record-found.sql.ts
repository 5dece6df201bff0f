import type { Statement } from '../../db/statement.js';

/** The payments, archived ones included, that have the payload. */
export const PAYLOADS_TAKEN: Statement = {
  text: 'SELECT FROM payment_uses WHERE payload_key = $1 AND NOT payload_released',
};
