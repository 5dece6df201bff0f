import { createServer } from 'node:http';
import pg from 'pg';
import { Agent, request } from 'undici';
import { port } from './serve.mjs';

// The minimum of a delivery: undici POSTs a body, and one UPDATE by a prepared statement records the result.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(`CREATE TABLE IF NOT EXISTS bare_deliveries (
  id text PRIMARY KEY, status text NOT NULL, tries int NOT NULL, history jsonb NOT NULL)`);
const UPDATE = {
  name: 'delivered',
  text: `UPDATE bare_deliveries SET status = 'succeeded', tries = tries + 1, history = history || $2::jsonb WHERE id = $1`,
};
const dispatcher = new Agent();
let rounds = 0;

/** Writes the rows before the measurement. */
async function prepare(count) {
  rounds += 1;
  const { rows } = await pool.query(
    `INSERT INTO bare_deliveries SELECT $1::text || '-' || n, 'pending', 0, '[]' FROM generate_series(1, $2::int) n RETURNING id`,
    [String(rounds), count],
  );
  return rows.map(({ id }) => id);
}

async function deliver(id, url, body) {
  const at = new Date().toISOString();
  const started = performance.now();
  const headers = { 'content-type': 'application/json' };
  const { statusCode, body: answer } = await request(url, { dispatcher, method: 'POST', headers, body });
  const entry = {
    at,
    durationMs: Math.round(performance.now() - started),
    status: statusCode,
    answer: await answer.text(),
  };
  await pool.query({ ...UPDATE, values: [id, JSON.stringify(entry)] });
}

/** The duration in ms. */
async function deliverAll({ count, inFlight, url, body }) {
  const ids = await prepare(count);
  const began = performance.now();
  const workOff = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await deliver(id, url, body);
  };
  await Promise.all(Array.from({ length: inFlight }, workOff));
  return performance.now() - began;
}

createServer(async (incoming, response) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const order = incoming.method === 'POST' && JSON.parse(Buffer.concat(chunks).toString());
  const ms = order ? await deliverAll(order) : 0;
  response.end(JSON.stringify({ ms }));
}).listen(port, '127.0.0.1');
