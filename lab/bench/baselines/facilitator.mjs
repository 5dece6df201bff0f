import { createServer } from 'node:http';
import { port } from './serve.mjs';

// A facilitator that answers at once, for both sides of a comparison. The transaction of a settlement is its nonce.
const supported = {
  kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:84532' }],
  extensions: [],
  signers: {},
};
const NONCE = /"nonce":"(0x[0-9a-f]{64})"/;
const payer = process.env.PAYER;

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const answer = (value) => {
    const body = JSON.stringify(value);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  };
  if (request.url === '/verify') return answer({ isValid: true, payer });
  if (request.url !== '/settle') return answer(supported);
  const [, nonce] = NONCE.exec(Buffer.concat(chunks).toString()) ?? [];
  answer({ success: true, payer, transaction: nonce, network: 'eip155:84532' });
}).listen(port, '127.0.0.1');
