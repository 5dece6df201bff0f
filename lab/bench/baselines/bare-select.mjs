import { createServer } from 'node:http';
import pg from 'pg';
import { read } from './answers.mjs';
import { port } from './serve.mjs';

// A read without any framework: node:http and one SELECT of a session by its key. Below /unpaid/ the answer is a 402.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const SELECT = { name: 'select', text: 'SELECT * FROM checkout_sessions WHERE id = $1' };
const UNPAID = '/unpaid/';

createServer(async (req, res) => {
  if (req.url === '/') return res.end('{"ok":true}');
  const isUnpaid = req.url.startsWith(UNPAID);
  const id = req.url.slice(isUnpaid ? UNPAID.length : 1);
  const { rows } = await pool.query({ ...SELECT, values: [id] });
  const [row] = rows;
  const answer = JSON.stringify(read(row));
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) };
  res.writeHead(isUnpaid ? 402 : 200, headers);
  res.end(answer);
}).listen(port, '127.0.0.1');
