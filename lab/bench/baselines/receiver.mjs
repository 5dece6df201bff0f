import { createServer } from 'node:http';
import { port } from './serve.mjs';

// A merchant's endpoint that answers at once and counts; GET returns the count.
let received = 0;
createServer((request, response) => {
  request.resume();
  if (request.method === 'POST') received += 1;
  const body = JSON.stringify({ received });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}).listen(port, '127.0.0.1');
