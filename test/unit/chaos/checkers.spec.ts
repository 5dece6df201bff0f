import assert from 'node:assert/strict';
import type {
  Answer,
  BuyersEntry,
  FacilitatorEntry,
  FaultEntry,
  Received,
} from '../../../lab/chaos/actors/entries.js';
import type { Books } from '../../../lab/chaos/check/books.js';
import { checkAnswers } from '../../../lab/chaos/check/check-answers.js';
import { checkConnections } from '../../../lab/chaos/check/check-connections.js';
import { checkEvents } from '../../../lab/chaos/check/check-events.js';
import { checkMoney } from '../../../lab/chaos/check/check-money.js';
import { checkStops } from '../../../lab/chaos/check/check-stops.js';

/** Two sessions, one paid at 2000 and one expired; whatever is changed in these books must be complained of. */
const SIGNED = {
  kind: 'signed',
  at: 1500,
  sessionId: 'cs_1',
  nonce: '0xn1',
  family: 'evm',
  validBefore: 60,
} as const;
const PAID = { id: 'cs_1', status: 'complete', payment: { transaction: '0xt1' } };
const PAYMENT = {
  id: 'pay_1',
  amount: 450,
  status: 'succeeded',
  transaction: '0xt1',
  checkout_session: 'cs_1',
};
const TRANSFER = {
  at: 2000,
  nonce: '0xn1',
  transaction: '0xt1',
  from: '0xa',
  to: '0xb',
  amount: '1',
  succeeded: true,
};
const COMPLETED: Received = {
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
const EXPIRED: Received = {
  ...COMPLETED,
  eventId: 'evt_2',
  type: 'checkout.session.expired',
  sessionId: 'cs_2',
  status: 'expired',
  transaction: null,
};

function books(changes: Partial<Books> = {}, session: object = {}): Books {
  const opened = ['cs_1', 'cs_2'].map((sessionId): BuyersEntry => ({ kind: 'session', at: 1000, sessionId }));
  return {
    sessions: new Map([
      ['cs_1', { ...PAID, ...session }],
      ['cs_2', { id: 'cs_2', status: 'expired', payment: null }],
    ]),
    refunds: new Map(),
    payments: [PAYMENT],
    undecided: 0,
    buyers: [...opened, SIGNED],
    answers: [],
    ledger: [TRANSFER],
    liedAbout: new Set(),
    received: [COMPLETED, EXPIRED],
    endpoints: [],
    faults: [],
    calls: [],
    idleInTransaction: [],
    ...changes,
  };
}

function answer(changes: Partial<Answer>): Answer {
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

function fault(changes: Partial<FaultEntry>): FaultEntry {
  return { at: 0, fault: 'SIGKILL', services: ['web-1'], ...changes };
}

function call(changes: Partial<FacilitatorEntry>): FacilitatorEntry {
  return {
    at: 50_000,
    ms: 5000,
    endpoint: 'settle',
    nonce: '0xn1',
    mood: 'honest',
    lied: false,
    caller: 'worker-1',
    ...changes,
  };
}

describe('the checkers of chaos', () => {
  it('have nothing to say about books that agree', () => {
    const agreeing = books({ answers: [answer({ status: 402 }), answer({}), answer({ status: 503 })] });
    const checks = [checkMoney, checkAnswers, checkEvents, checkStops, checkConnections];
    for (const check of checks) assert.deepEqual(check(agreeing), []);
  });

  it('take what is paid twice as well when it is recorded', () => {
    const again = { ...SIGNED, nonce: '0xn2' };
    const second = { ...TRANSFER, nonce: '0xn2', transaction: '0xt2' };
    const changes = { buyers: [...books().buyers, again], ledger: [TRANSFER, second] };
    const recorded = { ...PAYMENT, id: 'pay_2', transaction: '0xt2' };
    assert.deepEqual(checkMoney(books({ ...changes, payments: [PAYMENT, recorded] })), []);
    assert.match(checkMoney(books(changes)).join(), /0xt2 paid cs_1 \(complete\), which 0 payments record/);
  });

  const money: [string, Books, RegExp][] = [
    [
      'money for an open session',
      books({ payments: [] }, { status: 'open', payment: null }),
      /is open, and 0xt1 paid/,
    ],
    [
      'a session left processing',
      books({}, { status: 'processing', payment: null }),
      /cs_1 is left processing/,
    ],
    ['an undecided payment', books({ undecided: 1 }), /1 payments are left undecided/],
    [
      'a session that nothing paid',
      books({ ledger: [], payments: [] }),
      /complete by 0xt1, and the ledger has nothing/,
    ],
    ['a payment without money', books({ ledger: [] }), /pay_1 records 0xt1, which moved nothing/],
    ['the wrong transaction', books({}, { payment: { transaction: '0xt9' } }), /complete by 0xt9/],
    [
      'an authorization used twice',
      books({ ledger: [TRANSFER, TRANSFER] }),
      /1 authorizations moved money twice/,
    ],
    [
      'a session opened twice',
      books({ buyers: [SIGNED, ...books().buyers.slice(1)] }),
      /shop was never told of it/,
    ],
  ];
  for (const [what, wrong, complaint] of money) {
    it(`complain of ${what}`, () => assert.match(checkMoney(wrong).join(), complaint));
  }

  const told: [string, Books, RegExp][] = [
    ['a 500 of a link', books({ answers: [answer({ status: 500 })] }), /was answered 500/],
    [
      'a 402 after money moved',
      books({ answers: [answer({ status: 402, at: 2001 })] }),
      /1 ms after money had moved/,
    ],
    ['a second use of a signature', books({ answers: [answer({ request: 'replay' })] }), /0xn1 paid another/],
    [
      'a failure that paid later',
      books({ buyers: [...books().buyers, { ...SIGNED, kind: 'told_failed', code: 'x' }] }),
      /said to have failed \(x\), and paid 500 ms later/,
    ],
    ['a process that ended', books({ faults: [{ at: 1, fault: 'ended by itself' }] }), /nobody killed ended/],
    [
      'a process that stopped badly',
      books({ faults: [{ at: 1, fault: 'stopped badly' }] }),
      /told to stop ended badly/,
    ],
  ];
  for (const [what, wrong, complaint] of told) {
    it(`complain of ${what}`, () => assert.match(checkAnswers(wrong).join(), complaint));
  }

  it('hold nobody to a failure that the facilitator made up', () => {
    const failed: BuyersEntry = { ...SIGNED, kind: 'told_failed', code: 'insufficient_funds' };
    const answers = [answer({ status: 402, at: 2001 })];
    const lied = { answers, buyers: [...books().buyers, failed], liedAbout: new Set(['0xn1']) };
    assert.deepEqual(checkAnswers(books(lied)), []);
  });

  const LEFT = answer({ at: 10_000, ms: 3000, status: 0, code: 'UND_ERR_SOCKET' });
  const STOP = fault({ at: 12_000, fault: 'SIGTERM' });

  it('complain of a buyer whom a stopping process left without an answer', () => {
    const left = checkStops(books({ answers: [LEFT], faults: [STOP] }));
    assert.match(left.join(), /web-1 was told to stop and left pay of cs_1, sent 2000 ms before/);
  });

  const excusedBuyers: [string, Partial<Books>][] = [
    ['killed', { answers: [LEFT], faults: [fault({ at: 12_000, fault: 'SIGKILL' })] }],
    ['killed all the same', { answers: [LEFT], faults: [STOP, fault({ at: 12_500, fault: 'SIGKILL' })] }],
    ['stopped and another', { answers: [{ ...LEFT, web: 'web-2' }], faults: [STOP] }],
    ['stopped before it was asked', { answers: [{ ...LEFT, at: 11_900 }], faults: [STOP] }],
    ['stopped, and waited for too shortly', { answers: [{ ...LEFT, code: 'TimeoutError' }], faults: [STOP] }],
  ];
  for (const [how, excused] of excusedBuyers) {
    it(`do not hold its buyers against a process that was ${how}`, () => {
      assert.deepEqual(checkStops(books(excused)), []);
    });
  }

  it('complain of a /settle that was cut before its time', () => {
    const told = fault({ at: 49_000, fault: 'SIGTERM', services: ['worker-1'] });
    const cut = checkStops(books({ calls: [call({ hungUpAfterMs: 1000 })], faults: [told] }));
    assert.match(cut.join(), /worker-1 cut \/settle of 0xn1 after 1000 ms/);
  });

  const ofWorker = { services: ['worker-1'] };
  const excusedCuts: [string, Partial<FacilitatorEntry>, Partial<FaultEntry>][] = [
    ['its time was over', { hungUpAfterMs: 4000 }, { fault: 'SIGTERM' }],
    ['its process was killed', {}, { fault: 'SIGKILL' }],
    ['its process had stood still', {}, { fault: 'SIGSTOP and SIGCONT', at: 40_000, ms: 5000 }],
    [
      'its connection had been frozen',
      {},
      { fault: 'connections frozen', target: 'the facilitator', at: 44_000, ms: 2000 },
    ],
    ['it was /verify', { endpoint: 'verify' }, { fault: 'SIGTERM' }],
  ];
  for (const [why, change, what] of excusedCuts) {
    it(`do not complain of a call that was cut since ${why}`, () => {
      const excuse = fault({ at: 50_500, ...ofWorker, ...what });
      const calls = [call({ hungUpAfterMs: 1000, ...change })];
      assert.deepEqual(checkStops(books({ calls, faults: [excuse] })), []);
    });
  }

  it('complain of a connection that is left in a transaction', () => {
    const idle = { pid: 42, seconds: 3, since: '12:00', query: 'BEGIN' };
    const left = checkConnections(books({ idleInTransaction: [idle] }));
    assert.match(left.join(), /connection 42 has been idle in a transaction since 12:00, after: BEGIN/);
    assert.deepEqual(checkConnections(books({ idleInTransaction: [{ ...idle, seconds: 1 }] })), []);
  });

  const events: [string, Books, RegExp][] = [
    [
      'an event that nobody received',
      books({ received: [EXPIRED] }),
      /cs_1 is complete, and nobody was told/,
    ],
    [
      'one that was never taken',
      books({ received: [{ ...COMPLETED, reaction: 500 }, EXPIRED] }),
      /nobody was told/,
    ],
    [
      'two events of one type',
      books({ received: [COMPLETED, { ...COMPLETED, eventId: 'evt_9' }, EXPIRED] }),
      /twice/,
    ],
    [
      'a wrong signature',
      books({ received: [COMPLETED, { ...EXPIRED, verified: false }] }),
      /wrong signature/,
    ],
    [
      'both types without late money',
      books({ received: [COMPLETED, EXPIRED, { ...EXPIRED, sessionId: 'cs_1', created: 3 }] }),
      /told to be expired and is complete/,
    ],
    [
      'what comes to a deleted endpoint',
      books({
        endpoints: [{ kind: 'endpoint', at: 0, endpoint: 'other', is: 'deleted' }],
        received: [COMPLETED, EXPIRED, { ...COMPLETED, endpoint: 'other', at: 20_000 }],
      }),
      /1 events came to other after it was deleted/,
    ],
  ];
  for (const [what, wrong, complaint] of events) {
    it(`complain of ${what}`, () => assert.match(checkEvents(wrong).join(), complaint));
  }
});
