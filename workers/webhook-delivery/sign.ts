import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/**
 * Two schemes over the same bytes with the same secret: Stripe's, whose key is the whole secret as text, and Standard
 * Webhooks', whose key is what the base64 after the prefix decodes to. Receivers refuse old timestamps, so each try
 * is signed anew.
 */
export function signatureHeaders(
  secret: string,
  eventId: string,
  body: string,
  unixSeconds: number,
): Record<string, string> {
  const standardKey = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const stripeStyle = createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex');
  const standard = createHmac('sha256', standardKey)
    .update(`${eventId}.${unixSeconds}.${body}`)
    .digest('base64');
  return {
    'service-signature': `t=${unixSeconds},v1=${stripeStyle}`,
    'webhook-id': eventId,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': `v1,${standard}`,
  };
}
