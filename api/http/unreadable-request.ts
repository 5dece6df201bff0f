import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../shared/errors/refusal.js';

/** Why a request, or its body, cannot be read: found by the connection, which is closed after the answer. */
const refusals = new WeakMap<IncomingMessage, Refusal>();
/** Requests whose head is no HTTP, or ended too late: their method and path are not the client's. */
const headless = new WeakSet<IncomingMessage>();

export function noteUnreadable(req: IncomingMessage, refusal: Refusal): void {
  refusals.set(req, refusal);
}

/** Marks the request as unreadable, and as one without a readable head. */
export function noteHeadless(req: IncomingMessage, refusal: Refusal): void {
  headless.add(req);
  noteUnreadable(req, refusal);
}

export function isHeadless(req: IncomingMessage): boolean {
  return headless.has(req);
}

export function whyUnreadable(req: IncomingMessage): Refusal | undefined {
  return refusals.get(req);
}

/** Refuses a request that the connection could not read. Runs before any route. */
export function requireReadable(req: IncomingMessage, res: ServerResponse): void {
  const refusal = refusals.get(req);
  if (refusal === undefined) return;
  res.setHeader('Connection', 'close');
  throw refusal;
}
