import type { PayableStatus } from '../../payables/states.js';
import type { PaymentStage } from '../../payments/states.js';
import { nothingIsForgotten } from './answer-conditions.js';
import { type Action, type ByRow, type Condition, decideByRows, type Rows } from './decision-table.js';
import { isOutcomeUnclear } from './payment-state.js';

/** The columns of a session that decide about it when one of its payments succeeds or fails. */
export interface HeldSession {
  status: PayableStatus;
  expiresAt: Date;
  /** The payment that holds the session, or has completed it. */
  paymentId: string | null;
  /** A payment that succeeded while another one held the session. */
  latePaymentId: string | null;
}

/** The payment that holds the session when another one succeeds. */
export interface HoldingPayment {
  stage: PaymentStage | null;
  settleCalls: number;
  settleEndedAt: Date | null;
  settleUnclear: boolean;
  reportedTransaction: string | null;
}

export type AfterSuccess =
  /** `surplusPaymentId`: the late payment that came before is more than the session asked for. */
  | { kind: 'complete'; surplusPaymentId: string | null }
  /** The payment that holds the session moved nothing, and fails. */
  | { kind: 'complete_instead' }
  /** The payment that holds the session decides about it. */
  | { kind: 'keep_as_late' }
  | { kind: 'surplus' };

export type AfterFailure =
  | { kind: 'complete_with_late'; latePaymentId: string }
  | { kind: 'reopen' }
  | { kind: 'expire' }
  /** The payment does not hold the session. */
  | { kind: 'leave' };

export interface SuccessCase {
  session: HeldSession;
  paymentId: string;
  holding: HoldingPayment | undefined;
  /** Postgres may have forgotten a call of the payment that holds the session. */
  commitsMayBeLost: boolean;
}

export interface FailureCase {
  session: HeldSession;
  paymentId: string;
  now: Date;
}

const holdsSession: Condition<Pick<SuccessCase, 'session' | 'paymentId'>> = {
  by: 'database',
  text: 'this payment holds the session',
  holds: ({ session, paymentId }) => session.paymentId === paymentId,
};

const anotherHoldsSession: Condition<Pick<FailureCase, 'session' | 'paymentId'>> = {
  by: 'database',
  text: 'another payment holds the session',
  holds: ({ session, paymentId }) => isHeldByAnother(session, paymentId),
};

/** The holding payment waits for its first call, or for the next after answers that say that nothing was done. */
const holderMovedNothing: Condition<SuccessCase> = {
  by: 'database',
  text: 'the payment that holds it was not sent to `/settle`, or surely not processed',
  holds: ({ holding }) =>
    holding !== undefined &&
    holding.stage === 'settle' &&
    !isOutcomeUnclear(holding) &&
    (holding.settleCalls === 0 || holding.settleEndedAt !== null),
};

const noLatePayment: Condition<Pick<SuccessCase, 'session'>> = {
  by: 'database',
  text: 'no other payment came late before',
  holds: ({ session }) => session.latePaymentId === null,
};

const latePaymentWaits: Condition<Pick<FailureCase, 'session'>> = {
  by: 'database',
  text: 'another payment came late before',
  holds: ({ session }) => session.latePaymentId !== null,
};

const sessionHasTime: Condition<FailureCase> = {
  by: 'clock',
  text: 'the session has not expired',
  holds: ({ session, now }) => session.expiresAt > now,
};

const complete: Action<SuccessCase, AfterSuccess> = {
  text: 'complete the session',
  decide: () => ({ kind: 'complete', surplusPaymentId: null }),
};

const completeBeforeLate: Action<SuccessCase, AfterSuccess> = {
  text: 'complete the session; a payment that came late before is surplus',
  decide: ({ session }) => ({ kind: 'complete', surplusPaymentId: session.latePaymentId }),
};

const completeInstead: Action<SuccessCase, AfterSuccess> = {
  text: 'complete the session; the payment that holds it fails',
  decide: () => ({ kind: 'complete_instead' }),
};

const keepAsLate: Action<SuccessCase, AfterSuccess> = {
  text: 'keep it as the late payment of the session',
  decide: () => ({ kind: 'keep_as_late' }),
};

const surplus: Action<SuccessCase, AfterSuccess> = {
  text: 'it is surplus',
  decide: () => ({ kind: 'surplus' }),
};

const leave: Action<FailureCase, AfterFailure> = {
  text: 'leave the session',
  decide: () => ({ kind: 'leave' }),
};

const completeWithLate: Action<FailureCase, AfterFailure> = {
  text: 'complete the session with the payment that came late',
  decide: ({ session: { latePaymentId } }) => {
    if (latePaymentId === null) throw new Error('the session has no late payment');
    return { kind: 'complete_with_late', latePaymentId };
  },
};

const reopen: Action<FailureCase, AfterFailure> = {
  text: 'open the session again',
  decide: () => ({ kind: 'reopen' }),
};

const expire: Action<FailureCase, AfterFailure> = {
  text: 'the session expires',
  decide: () => ({ kind: 'expire' }),
};

/** The decision on a session, by its status, when one of its payments succeeds. */
export const SUCCESS: Readonly<Record<PayableStatus, Rows<SuccessCase, AfterSuccess>>> = {
  open: [{ do: complete, because: 'Money came late, and no other payment claims the session.' }],
  expired: [{ do: complete, because: 'Money came late, and is what the session asked for.' }],
  complete: [{ do: surplus, because: 'The session is paid.' }],
  processing: [
    { when: [holdsSession], do: completeBeforeLate, because: 'It is the payment of the session.' },
    {
      when: [holderMovedNothing, nothingIsForgotten],
      do: completeInstead,
      because: 'One payment is enough, and the other has moved no money.',
    },
    {
      when: [noLatePayment],
      do: keepAsLate,
      because: 'The payment that holds the session may have moved money, too.',
    },
    { do: surplus, because: 'A session keeps one late payment.' },
  ],
};

/** The decision on a session, by its status, when one of its payments fails. */
export const FAILURE: Readonly<Record<PayableStatus, Rows<FailureCase, AfterFailure>>> = {
  open: [{ do: leave, because: 'No payment holds it.' }],
  expired: [{ do: leave, because: 'No payment holds it.' }],
  complete: [{ do: leave, because: 'It is paid.' }],
  processing: [
    { when: [anotherHoldsSession], do: leave, because: 'The other payment decides about it.' },
    { when: [latePaymentWaits], do: completeWithLate, because: 'The session is paid by that.' },
    { when: [sessionHasTime], do: reopen, because: 'A buyer may try again.' },
    { do: expire, because: 'Its time is over.' },
  ],
};

/** `holding` is needed only while another payment holds the session. */
export function afterSuccess(one: SuccessCase): ByRow<AfterSuccess> {
  const { status } = one.session;
  return decideByRows(`success-${status}`, SUCCESS[status], one);
}

export function afterFailure(session: HeldSession, paymentId: string, now: Date): ByRow<AfterFailure> {
  const { status } = session;
  return decideByRows(`failure-${status}`, FAILURE[status], { session, paymentId, now });
}

export function isHeldByAnother({ status, paymentId }: HeldSession, id: string): boolean {
  return status === 'processing' && paymentId !== id;
}
