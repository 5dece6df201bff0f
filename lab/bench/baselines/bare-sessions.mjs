import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The table of the baselines that create. */
export async function openPool() {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
  await pool.query(`CREATE TABLE IF NOT EXISTS bare_sessions (
    id text PRIMARY KEY, livemode boolean NOT NULL, amount int NOT NULL, status text NOT NULL, data jsonb NOT NULL,
    created timestamptz NOT NULL)`);
  return pool;
}

const INSERT = {
  name: 'insert',
  text: `INSERT INTO bare_sessions (id, livemode, amount, status, data, created)
    VALUES ($1, false, $2, 'open', $3, now()) RETURNING *`,
};

/** Returns the stored row. */
export async function insertSession(pool, order) {
  const amount = order.line_items.reduce(
    (sum, item) => sum + item.price_data.unit_amount * (item.quantity ?? 1),
    0,
  );
  const id = `cs_test_${randomBytes(18).toString('base64url')}`;
  const { rows } = await pool.query({ ...INSERT, values: [id, amount, JSON.stringify(order)] });
  return rows[0];
}
