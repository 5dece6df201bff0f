// A merchant's program with Stripe's own SDK. Only the address of the API differs.
//
//   CHECKOUT_URL=http://localhost:3000 CHECKOUT_KEY=svc_ck_test_… node examples/stripe-sdk.mjs
import { env } from 'node:process';
import Stripe from 'stripe';

const { protocol, hostname, port } = new URL(env.CHECKOUT_URL);
const checkout = new Stripe(env.CHECKOUT_KEY, {
  protocol: protocol === 'http:' ? 'http' : 'https',
  host: hostname,
  port: port || (protocol === 'http:' ? 80 : 443),
});

const session = await checkout.checkout.sessions.create({
  line_items: [
    { price_data: { currency: 'usd', unit_amount: 450, product_data: { name: 'Coffee' } }, quantity: 2 },
  ],
  success_url: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
  metadata: { order: '1234' },
});
console.log(`Send your buyer, person or agent, this link: ${session.url}`);

const { status, payment_status } = await checkout.checkout.sessions.retrieve(session.id);
console.log(
  `${session.id} of $${(session.amount_total / 100).toFixed(2)} is ${status} and ${payment_status}.`,
);

// The payments that arrived in your wallet: a route that Stripe does not have.
const payments = await checkout.rawRequest('GET', '/v1/payments');
for (const { checkout_session, amount, token, network_name } of payments.data) {
  console.log(`${checkout_session} was paid $${(amount / 100).toFixed(2)} in ${token} on ${network_name}.`);
}
