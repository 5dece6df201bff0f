import { createHmac, webcrypto } from 'node:crypto';
import { doClocksDisagree, hostNowMs, nowMs } from '../../shared/process/clock.js';

const PREFIX = 'whsec_';
/** Larger bodies are signed in Node's thread pool: two hashes of a body of 2 MiB take the main thread 5 to 10 ms. */
const LARGE_BYTES = 64 * 1024;

interface SignedWebhook {
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Signs the same body with the same secret in two schemes. Stripe's key is the whole secret as text. Standard Webhooks' key is
 * the decoded base64 after the prefix. Receivers refuse old timestamps, so each try is signed anew. With several secrets
 * each header has one signature per secret, and a receiver accepts any that matches.
 * The text that Standard Webhooks signs ends with the text that Stripe signs, which ends with the body: one encoding serves
 * all three.
 */
export function signWebhook(
  secrets: readonly string[],
  eventId: string,
  bodyText: string,
  unixSeconds: number,
): SignedWebhook | Promise<SignedWebhook> {
  const standardText = Buffer.from(`${eventId}.${unixSeconds}.${bodyText}`);
  const stripeText = standardText.subarray(Buffer.byteLength(`${eventId}.`));
  const body = stripeText.subarray(`${unixSeconds}.`.length);
  const stripeKeys = secrets.map((secret) => Buffer.from(secret));
  const standardKeys = secrets.map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'));
  const present = (stripe: readonly Buffer[], standard: readonly Buffer[]): SignedWebhook => ({
    headers: {
      'service-signature': [`t=${unixSeconds}`, ...stripe.map((one) => `v1=${one.toString('hex')}`)].join(
        ',',
      ),
      'webhook-id': eventId,
      'webhook-timestamp': String(unixSeconds),
      'webhook-signature': standard.map((one) => `v1,${one.toString('base64')}`).join(' '),
    },
    body,
  });
  if (body.length <= LARGE_BYTES) {
    return present(
      stripeKeys.map((key) => hmac(key, stripeText)),
      standardKeys.map((key) => hmac(key, standardText)),
    );
  }
  return Promise.all([
    Promise.all(stripeKeys.map((key) => hmacInThreadPool(key, stripeText))),
    Promise.all(standardKeys.map((key) => hmacInThreadPool(key, standardText))),
  ]).then(([stripe, standard]) => present(stripe, standard));
}

function hmac(key: Buffer, text: Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

async function hmacInThreadPool(key: Buffer, text: Buffer): Promise<Buffer> {
  const { subtle } = webcrypto;
  const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return Buffer.from(await subtle.sign('HMAC', imported, text));
}

/**
 * Receivers refuse a signature whose time is minutes off. While the clocks disagree, either may be wrong: the tries of a delivery
 * take turns between them.
 */
export function signingTimeMs({ tries }: { tries: number }): number {
  return doClocksDisagree() && tries % 2 === 1 ? hostNowMs() : nowMs();
}
