import type { SessionStatus } from '../../payables/states.js';
import type { PaymentStage } from '../../payments/states.js';

/** What a verdict on one of its payments does to a session. */
export interface HeldSession {
  status: SessionStatus;
  expiresAt: Date;
  /** The payment that holds it, or has paid it. */
  paymentId: string | null;
  /** Money of another payment, which came while one was under way. */
  latePaymentId: string | null;
}

/** The payment that holds the session, when money of another one comes. */
export interface HoldingPayment {
  stage: PaymentStage | null;
  settleCalls: number;
  settleEndedAt: Date | null;
  settleUnclear: boolean;
  reportedTransaction: string | null;
}

export type AfterSuccess =
  /** `surplusPaymentId`: what had come before it is more than the session asked for. */
  | { kind: 'complete'; surplusPaymentId: string | null }
  /** The one that holds the session has asked for nothing, and fails. */
  | { kind: 'complete_instead' }
  /** The session is decided by the one that holds it. */
  | { kind: 'keep_as_late' }
  | { kind: 'surplus' };

/** `holding` is asked for only where another payment holds the session. */
export function afterSuccess(
  session: HeldSession,
  paymentId: string,
  holding: HoldingPayment | undefined,
): AfterSuccess {
  switch (session.status) {
    case 'open':
    case 'expired':
      return { kind: 'complete', surplusPaymentId: null };
    case 'complete':
      return { kind: 'surplus' };
    case 'processing':
      if (session.paymentId === paymentId)
        return { kind: 'complete', surplusPaymentId: session.latePaymentId };
      if (holding !== undefined && hasSurelyAskedForNothing(holding)) return { kind: 'complete_instead' };
      return session.latePaymentId === null ? { kind: 'keep_as_late' } : { kind: 'surplus' };
  }
}

export function isHeldByAnother({ status, paymentId }: HeldSession, id: string): boolean {
  return status === 'processing' && paymentId !== id;
}

/** Never asked, or surely turned away each time: it waits for its next call, with nothing in doubt. */
function hasSurelyAskedForNothing(holding: HoldingPayment): boolean {
  const { stage, settleCalls, settleEndedAt, settleUnclear, reportedTransaction } = holding;
  const isQuiet = !settleUnclear && reportedTransaction === null;
  return stage === 'settle' && isQuiet && (settleCalls === 0 || settleEndedAt !== null);
}

export type AfterFailure =
  | { kind: 'complete_with_late'; latePaymentId: string }
  | { kind: 'reopen' }
  | { kind: 'expire' }
  /** It does not hold the session. */
  | { kind: 'leave' };

export function afterFailure(session: HeldSession, paymentId: string, now: Date): AfterFailure {
  const { status, latePaymentId, expiresAt } = session;
  if (status !== 'processing' || session.paymentId !== paymentId) return { kind: 'leave' };
  if (latePaymentId !== null) return { kind: 'complete_with_late', latePaymentId };
  return { kind: expiresAt > now ? 'reopen' : 'expire' };
}
