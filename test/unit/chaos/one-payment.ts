import { type Evidence, NO_EVIDENCE } from '../../../lab/chaos/check/evidence.js';
import type {
  Answer,
  BuyersEntry,
  FacilitatorEntry,
  FaultEntry,
  Received,
} from '../../../lab/chaos/journals/entries.js';

/** Two sessions, one paid at 2000 and one expired. Each change of this evidence must be reported as a violation. */
export const SIGNED = {
  kind: 'signed',
  at: 1500,
  sessionId: 'cs_1',
  nonce: '0xn1',
  family: 'evm',
  validBefore: 60,
} as const;
export const PAID = { id: 'cs_1', status: 'complete', payment: { transaction: '0xt1' } };
export const PAYMENT = {
  id: 'pay_1',
  amount: 450,
  status: 'succeeded',
  transaction: '0xt1',
  checkout_session: 'cs_1',
};
export const TRANSFER = {
  at: 2000,
  nonce: '0xn1',
  transaction: '0xt1',
  from: '0xa',
  to: '0xb',
  amount: '1',
  succeeded: true,
};
export const COMPLETED: Received = {
  at: 3000,
  endpoint: 'steady',
  verified: true,
  reaction: 200,
  eventId: 'evt_1',
  type: 'checkout.session.completed',
  created: 2,
  sessionId: 'cs_1',
  status: 'complete',
  transaction: '0xt1',
};
export const EXPIRED: Received = {
  ...COMPLETED,
  eventId: 'evt_2',
  type: 'checkout.session.expired',
  sessionId: 'cs_2',
  status: 'expired',
  transaction: null,
};

export function facts(changes: Partial<Evidence> = {}, session: object = {}): Evidence {
  const opened = ['cs_1', 'cs_2'].map((sessionId): BuyersEntry => ({ kind: 'session', at: 1000, sessionId }));
  return {
    ...NO_EVIDENCE,
    sessions: new Map([
      ['cs_1', { ...PAID, ...session }],
      ['cs_2', { id: 'cs_2', status: 'expired', payment: null }],
    ]),
    payments: [PAYMENT],
    buyers: [...opened, SIGNED],
    ledger: [TRANSFER],
    received: [COMPLETED, EXPIRED],
    ...changes,
  };
}

export function answer(changes: Partial<Answer>): Answer {
  return {
    kind: 'answer',
    at: 1600,
    ms: 1,
    request: 'pay',
    web: 'web-1',
    status: 200,
    sessionId: 'cs_1',
    nonce: '0xn1',
    ...changes,
  };
}

export function fault(changes: Partial<FaultEntry>): FaultEntry {
  return { at: 0, fault: 'SIGKILL', services: ['web-1'], ...changes };
}

export function call(changes: Partial<FacilitatorEntry>): FacilitatorEntry {
  return {
    at: 50_000,
    ms: 5000,
    endpoint: 'settle',
    nonce: '0xn1',
    faultMode: 'honest',
    lied: false,
    caller: 'worker-1',
    ...changes,
  };
}
