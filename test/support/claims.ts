import type { Checkout } from './checkout.js';
import { answerOf } from './link-answers.js';

/** Sends a payment and returns its answer in two words. */
export function sendHeader(checkout: Checkout, id: string, header: string): Promise<string> {
  return checkout.visit(id, { 'PAYMENT-SIGNATURE': header }).then(answerOf);
}

export async function newIds(checkout: Checkout, count: number): Promise<string[]> {
  const sessions = await Promise.all(Array.from({ length: count }, () => checkout.buildSession()));
  return sessions.map(({ id }) => id);
}

export function countEach(answers: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[answer] = (counts[answer] ?? 0) + 1;
  return counts;
}
