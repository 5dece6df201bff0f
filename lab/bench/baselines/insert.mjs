import { Ajv } from 'ajv';
import express from 'express';
import { created } from './answers.mjs';
import { insertSession, openPool } from './bare-sessions.mjs';
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

const pool = await openPool();

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/', async (req, res) => {
  if (!validate(req.body)) return res.status(400).json({ error: validate.errors });
  res.json(created(await insertSession(pool, req.body)));
});
app.get('/', (_req, res) => res.json({ ok: true }));
app.listen(port, '127.0.0.1');
