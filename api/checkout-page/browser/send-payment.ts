import type { PayOutcome } from '../page-data.js';
import { askWithin } from './ask-within.js';
import { forgetPayment, type KeptPayment, keepPayment, markMine, markNotMine } from './memory.js';
import type { ServerClock } from './server-clock.js';

/**
 * The outcome of a signed payment. `lost`: it is unknown whether it arrived; the same signature may be sent again,
 * since it cannot pay twice.
 */
export type Outcome = Pick<PayOutcome, 'code' | 'cause' | 'uncertain' | 'payment'> & {
  outcome: Exclude<PayOutcome['outcome'], 'again'> | 'lost';
};

/** Longer than the server holds a paying request. */
const TIMEOUT_MS = 45_000;
const TOO_MANY = 429;
const NO_SESSION = 'resource_missing';
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

/** Retries until the signature expires. `isUnclear`: the payment may have arrived with an earlier try. */
export async function sendPayment(
  payment: KeptPayment,
  isUnclear: boolean,
  { path, sessionId, clock, onTrouble }: Sending,
): Promise<Outcome> {
  // The payment is stored before it is sent, so that a reload continues with the same signature.
  keepPayment(sessionId, payment);
  markMine(sessionId, payment.payer);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendOnce(path, payment.header);
    if (answer !== undefined && answer.outcome !== 'again') {
      // A service that has lost the session knows nothing of the payment that it left unanswered.
      if (isUnclear && answer.code === NO_SESSION) return { outcome: 'lost' };
      // An uncertain payment without an id is only known here: after a reload it is asked about again.
      if (!answer.uncertain || answer.payment !== undefined) forgetPayment(sessionId);
      if (answer.outcome !== 'taken') markNotMine(sessionId);
      return { ...answer, outcome: answer.outcome };
    }
    isUnclear ||= answer === undefined || answer.uncertain === true;
    if (clock.now() >= payment.validUntil) return giveUp(answer, isUnclear, sessionId);
    onTrouble(answer === undefined ? 'checking' : 'waiting');
    const wanted = (answer?.retry_after ?? 0) * 1000;
    await pause(Math.min(wanted > 0 ? wanted : PAUSE_MS * attempt, LONGEST_PAUSE_MS));
  }
}

/** Each response said that nothing happened, or one try had none: then the payment may have arrived with that try. */
function giveUp(answer: PayOutcome | undefined, isUnclear: boolean, sessionId: string): Outcome {
  if (isUnclear) return { outcome: 'lost' };
  forgetPayment(sessionId);
  markNotMine(sessionId);
  return { ...answer, outcome: 'failed' };
}

async function sendOnce(path: string, header: string): Promise<PayOutcome | undefined> {
  const options: RequestInit = {
    method: 'POST',
    headers: { Accept: 'application/json', 'PAYMENT-SIGNATURE': header },
    cache: 'no-store',
  };
  try {
    return await askWithin(TIMEOUT_MS, `${path}/pay`, options, async (response) => {
      if (response.status === TOO_MANY) return tooMany(response);
      return response.ok ? await response.json() : undefined;
    });
  } catch {
    return undefined;
  }
}

/** A rate-limited request was not processed. */
function tooMany({ headers }: Response): PayOutcome {
  return { outcome: 'again', cause: 'failedService', retry_after: Number(headers.get('Retry-After')) || 1 };
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
