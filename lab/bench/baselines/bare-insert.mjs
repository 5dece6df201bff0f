import { createServer } from 'node:http';
import { created } from './answers.mjs';
import { insertSession, openPool } from './bare-sessions.mjs';
import { port } from './serve.mjs';

// A create without any framework: node:http, JSON.parse, one INSERT by a prepared statement, and no check of the input.
const pool = await openPool();

createServer((req, res) => {
  if (req.method === 'GET') return res.end('{"ok":true}');
  let body = '';
  req.setEncoding('utf8');
  req.on('data', (text) => {
    body += text;
  });
  req.on('end', async () => {
    const answer = JSON.stringify(created(await insertSession(pool, JSON.parse(body))));
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) });
    res.end(answer);
  });
}).listen(port, '127.0.0.1');
