import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

interface ReceivedEvent {
  id: string;
  type: string;
  /** The id of the object that the event is about. */
  objectId: string;
}

const TOLERANCE_SECONDS = 300;

/**
 * Verifies the Service-Signature of a delivery, and its Standard Webhooks signature when it has one. Returns the event, or the
 * reason to reject it. `body` is the request body, byte for byte.
 */
export function verifyWebhook(
  body: string,
  headers: IncomingHttpHeaders,
  secret: string,
  nowSeconds: number,
): ReceivedEvent | string {
  const { sentAt, signatures } = parseSignature(String(headers['service-signature'] ?? ''));
  if (signatures.length === 0) return 'it has no Service-Signature of the form t=…,v1=…';
  const expected = createHmac('sha256', secret).update(`${sentAt}.${body}`).digest('hex');
  if (!signatures.some((signature) => isEqual(signature, expected))) return 'its signature does not fit';
  if (!(Math.abs(nowSeconds - Number(sentAt)) <= TOLERANCE_SECONDS)) return 'its signature is too old';
  const standard = checkStandardWebhook(body, headers, secret);
  return standard ?? readEvent(body);
}

/** Standard Webhooks: the same bytes with the same secret. Undefined when the signature is valid. */
function checkStandardWebhook(
  body: string,
  headers: IncomingHttpHeaders,
  secret: string,
): string | undefined {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map(
    (name) => headers[`webhook-${name}`],
  );
  if (id === undefined && signature === undefined) return undefined;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const fits = String(signature)
    .split(' ')
    .some((one) => isEqual(one, `v1,${expected}`));
  return fits ? undefined : 'its webhook-signature does not fit';
}

function parseSignature(header: string): { sentAt: string; signatures: string[] } {
  const parts = header.split(',').map((part) => part.split('='));
  const values = (name: string): string[] =>
    parts.flatMap(([key, value]) => (key === name && value ? [value] : []));
  return { sentAt: values('t')[0] ?? '', signatures: values('v1') };
}

function readEvent(body: string): ReceivedEvent | string {
  try {
    const { id, type, data }: { id: unknown; type: unknown; data: { object: { id: unknown } } } =
      JSON.parse(body);
    return { id: String(id), type: String(type), objectId: String(data.object.id) };
  } catch {
    return 'it is signed, but is no event';
  }
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
