import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../shared/errors/refusal.js';

/** Why a request, or its body, cannot be read: found by the connection, which is closed after the answer. */
const refusals = new WeakMap<IncomingMessage, Refusal>();

export function noteUnreadable(req: IncomingMessage, refusal: Refusal): void {
  refusals.set(req, refusal);
}

export function whyUnreadable(req: IncomingMessage): Refusal | undefined {
  return refusals.get(req);
}

/** Before any route. */
export function requireReadable(req: IncomingMessage, res: ServerResponse): void {
  const refusal = refusals.get(req);
  if (refusal === undefined) return;
  res.setHeader('Connection', 'close');
  throw refusal;
}
