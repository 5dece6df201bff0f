import express from 'express';
import pg from 'pg';
import { port } from './serve.mjs';

// The same query as the service's list, in bare Express: an account's ten newest sessions, with their payments.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const SELECT = {
  name: 'list',
  text: `SELECT session.id, session.account_id, session.livemode, session.status, session.amount_total_cents,
      session.metadata, session.success_url, session.cancel_url, session.client_reference_id,
      session.customer_email, session.expires_at, session.payment_id, payment.transaction, payment.network,
      payment.payer, payment.settled_at
    FROM checkout_sessions session LEFT JOIN payments payment ON payment.id = session.payment_id
    WHERE session.account_id = $1 AND session.livemode = $2
    ORDER BY session.id DESC LIMIT $3`,
};

const app = express();
app.disable('x-powered-by');
app.get('/', (_req, res) => res.json({ ok: true }));
app.get('/:account', async (req, res) => {
  const limit = Number(req.query.limit);
  const { rows } = await pool.query({ ...SELECT, values: [req.params.account, false, limit + 1] });
  const data = rows.slice(0, limit).map((row) => ({
    id: row.id,
    object: 'checkout.session',
    amount_total: Number(row.amount_total_cents),
    currency: 'usd',
    livemode: row.livemode,
    status: row.status,
    metadata: row.metadata,
    success_url: row.success_url,
    client_reference_id: row.client_reference_id,
    customer_email: row.customer_email,
    expires_at: Math.floor(row.expires_at.getTime() / 1000),
    payment: row.payment_id && { id: row.payment_id, transaction: row.transaction, network: row.network },
  }));
  res.json({ object: 'list', url: '/v1/checkout/sessions', has_more: rows.length > limit, data });
});
app.listen(port, '127.0.0.1');
