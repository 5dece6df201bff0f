import { createHash } from 'node:crypto';
import { transactionUrl } from '../../shared/chains/networks.js';
import type { LinkedSession } from '../../shared/services/payments/read-link.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import type { LinkAnswer } from '../payment-link/answer.js';

/** What a page shows of a session. Its revision is also what the page asks for while it is open. */
export type PageState =
  | { kind: 'open'; accepts: readonly PaymentRequirements[]; failureCode: string | undefined }
  /** The payment service is away; it will be back. */
  | { kind: 'busy' }
  /** There is no network to pay on. */
  | { kind: 'unavailable' }
  | { kind: 'processing'; network: string; transactionUrl: string | null }
  | { kind: 'complete' }
  | { kind: 'expired' };

/** `answer` is what an agent would be told, which for an open session says whether it can be paid now. */
export function pageState(session: LinkedSession, answer: LinkAnswer, now: Date): PageState {
  switch (session.status) {
    case 'complete':
      return { kind: 'complete' };
    case 'processing':
      return processing(session);
    case 'expired':
      return { kind: 'expired' };
    case 'open':
      return session.expiresAt <= now ? { kind: 'expired' } : open(answer);
  }
}

function open(answer: LinkAnswer): PageState {
  if (answer.kind === 'payment_required') {
    return { kind: 'open', accepts: answer.required.accepts, failureCode: answer.required.code };
  }
  const isLasting = answer.kind === 'error' && answer.error.code === 'payments_unavailable';
  return { kind: isLasting ? 'unavailable' : 'busy' };
}

function processing({ payment }: LinkedSession): PageState {
  const transaction = payment?.transaction ?? payment?.reportedTransaction ?? null;
  const network = payment?.network ?? '';
  return {
    kind: 'processing',
    network,
    transactionUrl: transaction === null ? null : transactionUrl(network, transaction),
  };
}

export function revisionOf(state: PageState): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 12);
}
