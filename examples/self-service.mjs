// An agent that sells without a person: from its facilitator key to the signed event of a paid session.
//
//   CHECKOUT_URL=http://localhost:3000 AGENT_KEY_ID=… AGENT_KEY_SECRET=svc_sk_… node examples/self-service.mjs
//
// The service must be able to reach WEBHOOK_URL, which leads to this machine's PORT. With the sandbox the defaults work.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { env } from 'node:process';
import { buffer } from 'node:stream/consumers';
import { SignJWT } from 'jose';
import Stripe from 'stripe';

const { CHECKOUT_URL, AGENT_KEY_ID, AGENT_KEY_SECRET, PORT = 0 } = env;

// 1. Make a token, signed with the facilitator key. It proves the agent's identity for two minutes.
const der = Buffer.from(AGENT_KEY_SECRET.trim().replace(/^svc_sk_/, ''), 'base64');
const token = await new SignJWT()
  .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: AGENT_KEY_ID })
  .setSubject(AGENT_KEY_ID)
  .setIssuer('svc-merchant')
  .setIssuedAt()
  .setExpirationTime('2m')
  .setJti(randomUUID())
  .sign(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));

// 2. Exchange the token for a checkout key. Keep the key: an account gets ten an hour.
const signUp = await fetch(`${CHECKOUT_URL}/v1/keys`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ livemode: false, name: 'Selling agent' }),
});
const key = await signUp.json();
if (!signUp.ok) throw new Error(key.error.message);

// 3. Use Stripe's SDK from here on, pointed at this service.
const { protocol, hostname, port } = new URL(CHECKOUT_URL);
const checkout = new Stripe(key.secret, {
  protocol: protocol.slice(0, -1),
  host: hostname,
  port: port || (protocol === 'http:' ? 80 : 443),
});

// 4. Create the webhook endpoint that receives the events.
const server = createServer().listen(Number(PORT));
await once(server, 'listening');
const endpoint = await checkout.webhookEndpoints.create({
  url: env.WEBHOOK_URL ?? `http://127.0.0.1:${server.address().port}/webhooks`,
  enabled_events: ['checkout.session.completed', 'checkout.session.expired'],
});

// 5. Create a session. Its link goes to the buyer.
const session = await checkout.checkout.sessions.create({
  line_items: [{ price_data: { currency: 'usd', unit_amount: 90, product_data: { name: 'A haiku' } } }],
});
console.log(`To be paid by a person or an agent: ${session.url}`);

// 6. Accept only events that are signed with the endpoint's secret.
const ended = await new Promise((resolve) => {
  server.on('request', async (request, response) => {
    try {
      const signature = request.headers['service-signature'];
      const event = checkout.webhooks.constructEvent(await buffer(request), signature, endpoint.secret);
      if (event.data.object.id === session.id) resolve(event.data.object);
      response.writeHead(200).end();
    } catch {
      response.writeHead(400).end();
    }
  });
});
console.log(
  ended.payment ? `Paid by ${ended.payment.payer}: ${ended.payment.transaction_url}` : 'Not paid in time.',
);

await checkout.webhookEndpoints.del(endpoint.id);
server.close();
