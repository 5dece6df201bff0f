// Follows the list of events and posts each one, signed, to a local address. For a machine that no webhook can reach.
//
//   CHECKOUT_URL=http://localhost:3000 CHECKOUT_KEY=svc_ck_test_… node examples/forward-events.mjs http://localhost:4343/hooks
import { createHmac, randomBytes } from 'node:crypto';
import { argv, env } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import Stripe from 'stripe';

const { protocol, hostname, port } = new URL(env.CHECKOUT_URL);
const checkout = new Stripe(env.CHECKOUT_KEY, {
  protocol: protocol === 'http:' ? 'http' : 'https',
  host: hostname,
  port: port || (protocol === 'http:' ? 80 : 443),
});
const receiver = argv[2] ?? 'http://localhost:4343/';
const secret = env.WEBHOOK_SECRET ?? `whsec_${randomBytes(32).toString('base64')}`;
console.log(`Events go to ${receiver}, signed with ${secret}`);

const start = Math.floor(Date.now() / 1000);
const seen = new Set();
for (;;) {
  // Each query goes back a minute, because an event may become visible after a younger one.
  const gte = Math.max(start, Math.floor(Date.now() / 1000) - 60);
  const events = await checkout.events
    .list({ limit: 100, created: { gte } })
    .autoPagingToArray({ limit: 10_000 });
  for (const event of events.reverse()) {
    if (seen.has(event.id)) continue;
    seen.add(event.id);
    console.log(`${event.type} ${event.data.object.id} → ${await forward(event)}`);
  }
  await pause(1000);
}

async function forward(event) {
  const body = JSON.stringify(event);
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'service-signature': `t=${t},v1=${v1}` };
  return await fetch(receiver, { method: 'POST', headers, body }).then(
    ({ status }) => `HTTP ${status}`,
    (error) => String(error.cause?.code ?? error),
  );
}
