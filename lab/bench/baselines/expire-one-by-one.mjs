import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { port } from './serve.mjs';

// Writes the same rows as the service does when it expires sessions, with one plain statement each. A POST expires all
// overdue sessions.
const CONNECTIONS = 10;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS });
const OVERDUE = `SELECT * FROM checkout_sessions WHERE status = 'open' AND expires_at <= now()`;
const EXPIRE = {
  name: 'expire',
  text: `UPDATE checkout_sessions SET status = 'expired' WHERE id = $1 AND status = 'open'`,
};
const INSERT_EVENT = {
  name: 'event',
  text: `INSERT INTO events (id, account_id, livemode, type, payable_id, object)
    VALUES ($1, $2, $3, 'checkout.session.expired', $4, $5)`,
};
const INSERT_DELIVERY = {
  name: 'delivery',
  text: `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at) VALUES ($1, $2, $3, 'pending', now())`,
};

/** Ids sort by time, like the service's. */
let made = 0;
const newId = (prefix) => {
  made += 1;
  return `${prefix}${String(made).padStart(11, '0')}${randomBytes(9).toString('hex').slice(1)}`;
};

function render(session) {
  return JSON.stringify({
    id: session.id,
    object: 'checkout.session',
    amount_subtotal: Number(session.amount_total_cents),
    amount_total: Number(session.amount_total_cents),
    cancel_url: session.cancel_url,
    client_reference_id: session.client_reference_id,
    created: 1_700_000_000,
    currency: 'usd',
    customer_email: session.customer_email,
    expires_at: Math.floor(session.expires_at.getTime() / 1000),
    livemode: session.livemode,
    metadata: session.metadata,
    mode: 'payment',
    payment_method_types: ['crypto'],
    payment_status: 'unpaid',
    status: 'expired',
    success_url: session.success_url,
    url: null,
    payment: null,
  });
}

async function expire(session, endpointId) {
  await pool.query({ ...EXPIRE, values: [session.id] });
  const eventId = newId('evt_');
  const { account_id: accountId, livemode } = session;
  await pool.query({
    ...INSERT_EVENT,
    values: [eventId, accountId, livemode, session.id, render(session)],
  });
  await pool.query({ ...INSERT_DELIVERY, values: [newId('wd_'), eventId, endpointId] });
}

/** The number of sessions, and the time in ms since they were read. */
async function expireAll() {
  const { rows: sessions } = await pool.query(OVERDUE);
  const { rows: endpoints } = await pool.query('SELECT id FROM webhook_endpoints LIMIT 1');
  const count = sessions.length;
  const began = performance.now();
  const workOff = async () => {
    for (let one = sessions.pop(); one !== undefined; one = sessions.pop())
      await expire(one, endpoints[0].id);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, workOff));
  return { count, ms: performance.now() - began };
}

createServer(async (incoming, response) => {
  const answer = incoming.method === 'POST' ? await expireAll() : {};
  response.end(JSON.stringify(answer));
}).listen(port, '127.0.0.1');
