import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';
import { port } from './serve.mjs';

// The middleware that the service replaces, as its documentation shows it. It stores nothing.
const facilitator = new HTTPFacilitatorClient({ url: process.env.FACILITATOR_URL });
const server = new x402ResourceServer(facilitator).register('eip155:84532', new ExactEvmScheme());
const accepts = {
  scheme: 'exact',
  price: '$4.50',
  network: 'eip155:84532',
  payTo: process.env.PAY_TO,
  maxTimeoutSeconds: 300,
};
const order = { accepts, description: 'Payment to Bench', mimeType: 'application/json' };

const app = express();
app.get('/ready', (_req, res) => res.json({ ok: true }));
app.use(paymentMiddleware({ 'GET /': order }, server));
app.get('/', (_req, res) => res.json({ status: 'complete' }));
app.listen(port, '127.0.0.1');
