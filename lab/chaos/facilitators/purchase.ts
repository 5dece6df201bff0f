import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { nowMs } from '../../../shared/process/clock.js';
import type { PaymentRequired, PaymentRequirements } from '../../../shared/x402/wire.js';
import { paymentHeader, signEvmPayment, signSolanaPayment } from '../../world/shop/agent.js';
import { coffeeOrder } from '../../world/shop/coffee-order.js';
import { newKeypair } from '../wallets/wallets.js';
import { SOLANA } from './chains.js';
import type { System } from './system.js';

interface Purchase {
  /** The first answer to the signature; 503 when the link itself answers so. */
  firstStatus: number;
  /** The fee payer that the link has named; Solana only. */
  feePayer?: string | undefined;
  /** Ends when the signature is answered other than 503, or is over. */
  paid: Promise<void>;
}

const VALID_SECONDS = 60;
const AGAIN_MS = 1000;

/** A buyer with a single signature, which is sent again for as long as it is answered 503. */
export async function purchase(system: System, network: string): Promise<Purchase> {
  const { url } = system;
  const id = await createSession(system);
  const link = `${url}/c/${id}?network=${network}`;
  const quote = await fetch(link);
  if (quote.status !== 402) return { firstStatus: quote.status, paid: Promise.resolve() };
  const [offer] = ((await quote.json()) as PaymentRequired).accepts;
  if (offer === undefined) throw new Error(`the link offers nothing on ${network}`);
  const endMs = nowMs() + VALID_SECONDS * 1000;
  const payload = await sign(offer, endMs, system);
  const headers = { 'PAYMENT-SIGNATURE': paymentHeader(offer, payload) };
  const send = async (): Promise<number> => {
    const answer = await fetch(`${url}/c/${id}`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const firstStatus = await send();
  const repeat = async (): Promise<void> => {
    for (let status = firstStatus; status === 503 && nowMs() < endMs; status = await send())
      await sleep(AGAIN_MS);
  };
  const feePayer = 'feePayer' in offer.extra ? offer.extra.feePayer : undefined;
  return { firstStatus, feePayer, paid: repeat() };
}

/** A signature of Solana ends with its blockhash instead of `endMs`. */
async function sign(offer: PaymentRequirements, endMs: number, system: System): Promise<object> {
  if (offer.network === SOLANA)
    return signSolanaPayment(offer, { payer: newKeypair(), blockhash: system.issueBlockhash() });
  const account = privateKeyToAccount(generatePrivateKey());
  return await signEvmPayment(offer, { account, validBefore: BigInt(Math.floor(endMs / 1000)) });
}

async function createSession({ url, key }: System): Promise<string> {
  const answer = await fetch(`${url}/v1/checkout/sessions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(coffeeOrder()),
  });
  if (answer.status !== 200) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}
