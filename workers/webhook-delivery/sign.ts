import { createHmac } from 'node:crypto';
import { doClocksDisagree, hostNowMs, nowMs } from '../../shared/process/clock.js';

const PREFIX = 'whsec_';

/**
 * Signs the same body with the same secret in two schemes. Stripe's key is the whole secret as text. Standard Webhooks' key is
 * the decoded base64 after the prefix. Receivers refuse old timestamps, so each try is signed anew. With several secrets
 * each header has one signature per secret, and a receiver accepts any that matches.
 */
export function signatureHeaders(
  secrets: readonly string[],
  eventId: string,
  body: string,
  unixSeconds: number,
): Record<string, string> {
  const stripeStyle = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex'),
  );
  const standard = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
      .update(`${eventId}.${unixSeconds}.${body}`)
      .digest('base64'),
  );
  return {
    'service-signature': [`t=${unixSeconds}`, ...stripeStyle.map((hex) => `v1=${hex}`)].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': standard.map((base64) => `v1,${base64}`).join(' '),
  };
}

/**
 * Receivers refuse a signature whose time is minutes off. While the clocks disagree, either may be wrong: the tries of a delivery
 * take turns between them.
 */
export function signingTimeMs({ tries }: { tries: number }): number {
  return doClocksDisagree() && tries % 2 === 1 ? hostNowMs() : nowMs();
}
