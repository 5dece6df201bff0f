import type { Fault } from './fault.js';

/**
 * Moves a session's or refund's end into the past. The API's shortest lifetime is half an hour, so this is done in the
 * database.
 */
const EXPIRE_ONE = `
  UPDATE payables SET expires_at = now() - interval '1 s'
  WHERE id = (
    SELECT id FROM payables WHERE status IN ('open', 'processing') AND expires_at > now()
    ORDER BY md5(id || $1) LIMIT 1
  )
  RETURNING id, status`;

export const expireSessions: Fault = {
  everyMs: 6000,
  async inject({ postgres }, random) {
    // While Postgres is unavailable there is nothing to do.
    const ended = postgres.query<{ id: string; status: string }>(EXPIRE_ONE, [String(random())]);
    const [one] = await ended.catch(() => []);
    if (one === undefined) return undefined;
    const kind = one.id.startsWith('re_') ? 'refund' : 'session';
    return { fault: `${one.status} ${kind} moved over its end`, detail: one.id };
  },
};
