import type { PayOutcome } from '../page-data.js';
import { forgetPayment, type KeptPayment, keepPayment, markMine } from './memory.js';

/**
 * What came of a signed payment. `lost`: nobody knows whether it arrived, and the same signature may be sent again, since
 * it cannot pay twice.
 */
export type Outcome = Pick<PayOutcome, 'code'> & {
  outcome: Exclude<PayOutcome['outcome'], 'again'> | 'lost';
};

/** Longer than the server lets a paying request wait. */
const TIMEOUT_MS = 45_000;
const ATTEMPTS = 4;
const PAUSE_MS = 1500;
const LONGEST_PAUSE_MS = 8000;

/** `onTrouble` hears when a try brought no outcome. */
export async function sendPayment(
  path: string,
  sessionId: string,
  payment: KeptPayment,
  onTrouble: () => void,
): Promise<Outcome> {
  // Kept before it is sent: whatever happens to this page, a reload goes on with the same signature.
  keepPayment(sessionId, payment);
  markMine(sessionId, 'mine');
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendOnce(path, payment.header);
    if (answer !== undefined && answer.outcome !== 'again') {
      forgetPayment(sessionId);
      if (answer.outcome !== 'taken') markMine(sessionId, 'not mine');
      return { ...answer, outcome: answer.outcome };
    }
    if (attempt === ATTEMPTS) return giveUp(answer, sessionId);
    onTrouble();
    const wanted = (answer?.retry_after ?? 0) * 1000;
    await pause(wanted > 0 ? Math.min(wanted, LONGEST_PAUSE_MS) : PAUSE_MS * attempt);
  }
}

/** Each time the service said that nothing happened, or said nothing. */
function giveUp(answer: PayOutcome | undefined, sessionId: string): Outcome {
  if (answer === undefined) return { outcome: 'lost' };
  forgetPayment(sessionId);
  markMine(sessionId, 'not mine');
  return { outcome: 'failed', ...(answer.code !== undefined && { code: answer.code }) };
}

async function sendOnce(path: string, header: string): Promise<PayOutcome | undefined> {
  try {
    const response = await fetch(`${path}/pay`, {
      method: 'POST',
      headers: { Accept: 'application/json', 'PAYMENT-SIGNATURE': header },
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
