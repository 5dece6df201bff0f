import type { Statement } from '../../db/statement.js';

export const NEWEST_SECRETS: Statement = {
  name: undefined,
  text: `
    SELECT sealed_secret AS sealed FROM webhook_endpoints WHERE deleted_at IS NULL ORDER BY id DESC LIMIT $1`,
};
