// An agent that pays a link with x402's own client for axios.
//
//   BUYER_KEY=0x… node examples/agent-axios.mjs http://localhost:3000/c/cs_test_…
import { argv, env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodePaymentResponseHeader, wrapAxiosWithPayment, x402Client } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';

const link = argv[2];
const buyer = privateKeyToAccount(env.BUYER_KEY);
const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
// The client's default limit is $1 a payment. Versions before 2.23 have no limit.
client.setSpendControls?.({ maxAmountPerPayment: '$20' });

try {
  let response = await wrapAxiosWithPayment(axios.create(), client).get(link);
  // The network has not confirmed the payment yet. A GET without a payment asks again and pays nothing.
  while (response.status === 202) {
    await sleep(Number(response.headers['retry-after']) * 1000);
    response = await axios.get(link);
  }
  const { session, refund } = response.data;
  const { transaction, network } = decodePaymentResponseHeader(response.headers['payment-response']);
  const dollars = ((session?.amount_total ?? refund.amount) / 100).toFixed(2);
  console.log(`Paid $${dollars} to ${session?.merchant.name ?? refund.pay_to}: ${transaction} on ${network}`);
} catch (error) {
  // axios throws on every status other than 2xx. The body has the reason.
  if (!error.response) throw error;
  throw new Error(`Not paid (HTTP ${error.response.status}): ${JSON.stringify(error.response.data)}`);
}
