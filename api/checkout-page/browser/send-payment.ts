import type { PayOutcome } from '../page-data.js';
import { forgetPayment, type KeptPayment, keepPayment, markMine } from './memory.js';
import type { ServerClock } from './server-clock.js';

/**
 * The outcome of a signed payment. `lost`: it is unknown whether it arrived; the same signature may be sent again,
 * since it cannot pay twice.
 */
export type Outcome = Pick<PayOutcome, 'code'> & {
  outcome: Exclude<PayOutcome['outcome'], 'again'> | 'lost';
};

/** Longer than the server holds a paying request. */
const TIMEOUT_MS = 45_000;
const TOO_MANY = 429;
const PAUSE_MS = 1500;
const LONGEST_PAUSE_MS = 8000;

/** `checking`: no response. `waiting`: the service asked to send it again. */
export type Trouble = 'checking' | 'waiting';

interface Sending {
  path: string;
  sessionId: string;
  clock: ServerClock;
  onTrouble(trouble: Trouble): void;
}

/** Retries until the signature expires. */
export async function sendPayment(
  payment: KeptPayment,
  { path, sessionId, clock, onTrouble }: Sending,
): Promise<Outcome> {
  // Stored before sending, so that a reload continues with the same signature.
  keepPayment(sessionId, payment);
  markMine(sessionId, 'mine');
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendOnce(path, payment.header);
    if (answer !== undefined && answer.outcome !== 'again') {
      forgetPayment(sessionId);
      if (answer.outcome !== 'taken') markMine(sessionId, 'not mine');
      return { ...answer, outcome: answer.outcome };
    }
    if (clock.now() >= payment.validUntil) return giveUp(answer, sessionId);
    onTrouble(answer === undefined ? 'checking' : 'waiting');
    const wanted = (answer?.retry_after ?? 0) * 1000;
    await pause(Math.min(wanted > 0 ? wanted : PAUSE_MS * attempt, LONGEST_PAUSE_MS));
  }
}

/** The last response said that nothing happened, or there was no response. */
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
    if (response.status === TOO_MANY) return tooMany(response);
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** A rate-limited request was not processed. */
function tooMany({ headers }: Response): PayOutcome {
  return { outcome: 'again', code: 'rate_limit', retry_after: Number(headers.get('Retry-After')) || 1 };
}

/** Ends early when the connection is back. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    window.addEventListener('online', end);
  });
}
