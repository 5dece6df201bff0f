import { randomBytes } from 'node:crypto';
import { Ajv } from 'ajv';
import express from 'express';
import pg from 'pg';
import { port } from './serve.mjs';

// The minimum of a create: Express, its JSON parser, a schema, one INSERT by a prepared statement.
const text = { type: 'string', maxLength: 500 };
const priceData = {
  type: 'object',
  required: ['product_data', 'unit_amount'],
  additionalProperties: false,
  properties: {
    currency: { const: 'usd' },
    unit_amount: { type: 'integer', minimum: 0, maximum: 99_999_999 },
    product_data: {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: { name: { type: 'string', maxLength: 250 }, description: text },
    },
  },
};
const validate = new Ajv().compile({
  type: 'object',
  required: ['line_items'],
  additionalProperties: false,
  properties: {
    mode: { const: 'payment' },
    line_items: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        type: 'object',
        required: ['price_data'],
        additionalProperties: false,
        properties: { quantity: { type: 'integer', minimum: 1, maximum: 999_999 }, price_data: priceData },
      },
    },
    success_url: { type: 'string', maxLength: 5000 },
    metadata: { type: 'object', maxProperties: 50, additionalProperties: text },
  },
});

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(`CREATE TABLE IF NOT EXISTS bare_sessions (
  id text PRIMARY KEY, livemode boolean NOT NULL, amount int NOT NULL, status text NOT NULL, data jsonb NOT NULL,
  created timestamptz NOT NULL)`);
const INSERT = {
  name: 'insert',
  text: `INSERT INTO bare_sessions (id, livemode, amount, status, data, created)
    VALUES ($1, false, $2, 'open', $3, now()) RETURNING *`,
};

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/', async (req, res) => {
  if (!validate(req.body)) return res.status(400).json({ error: validate.errors });
  const amount = req.body.line_items.reduce(
    (sum, item) => sum + item.price_data.unit_amount * (item.quantity ?? 1),
    0,
  );
  const id = `cs_test_${randomBytes(18).toString('base64url')}`;
  const { rows } = await pool.query({ ...INSERT, values: [id, amount, JSON.stringify(req.body)] });
  const [row] = rows;
  res.json({
    id: row.id,
    object: 'checkout.session',
    amount_total: row.amount,
    currency: 'usd',
    livemode: row.livemode,
    status: row.status,
    created: Math.floor(row.created.getTime() / 1000),
    metadata: row.data.metadata ?? {},
    url: `http://localhost/c/${row.id}`,
  });
});
app.get('/', (_req, res) => res.json({ ok: true }));
app.listen(port, '127.0.0.1');
