import express from 'express';
import pg from 'pg';
import { read } from './answers.mjs';
import { port } from './serve.mjs';

// The minimum of a read: Express and one SELECT of a session by its key, through pg.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const SELECT = { name: 'select', text: 'SELECT * FROM checkout_sessions WHERE id = $1' };

const app = express();
app.disable('x-powered-by');
app.get('/', (_req, res) => res.json({ ok: true }));
app.get('/:id', async (req, res) => {
  const { rows } = await pool.query({ ...SELECT, values: [req.params.id] });
  const [row] = rows;
  if (row === undefined) return res.status(404).json({ error: 'no such session' });
  res.json(read(row));
});
app.listen(port, '127.0.0.1');
