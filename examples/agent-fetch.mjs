// An agent that pays a link with x402's own client for fetch.
//
//   BUYER_KEY=0x… node examples/agent-fetch.mjs http://localhost:3000/c/cs_test_…
import { argv, env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const link = argv[2];
const buyer = privateKeyToAccount(env.BUYER_KEY);
const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
// The client's default limit is $1 a payment.
client.setSpendControls({ maxAmountPerPayment: '$20' });
let response = await wrapFetchWithPayment(fetch, client)(link);

// Not confirmed yet: a GET without a payment asks again, and pays nothing.
while (response.status === 202) {
  await sleep(Number(response.headers.get('Retry-After')) * 1000);
  response = await fetch(link);
}
if (response.status !== 200) throw new Error(`Not paid (HTTP ${response.status}): ${await response.text()}`);

const { session, refund } = await response.json();
const { transaction, network } = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE'));
const dollars = ((session?.amount_total ?? refund.amount) / 100).toFixed(2);
console.log(`Paid $${dollars} to ${session?.merchant.name ?? refund.pay_to}: ${transaction} on ${network}`);
