import assert from 'node:assert/strict';
import { checkAnswers } from '../../../lab/chaos/check/check-answers.js';
import { checkConnections } from '../../../lab/chaos/check/check-connections.js';
import { checkEvents } from '../../../lab/chaos/check/check-events.js';
import { checkMoney } from '../../../lab/chaos/check/check-money.js';
import { checkStops } from '../../../lab/chaos/check/check-stops.js';
import type { Evidence } from '../../../lab/chaos/check/evidence.js';
import { forgottenIn } from '../../../lab/chaos/check/forgotten.js';
import { STANDBY_PROMOTED } from '../../../lab/chaos/faults/promote-standbys.js';
import { CLOCK_SET } from '../../../lab/chaos/faults/step-clocks.js';
import type { BuyersEntry, FacilitatorEntry, FaultEntry } from '../../../lab/chaos/journals/entries.js';
import { answer, COMPLETED, call, EXPIRED, facts, fault, PAYMENT, SIGNED, TRANSFER } from './one-payment.js';

describe("chaos' checks", () => {
  it('report nothing about consistent evidence', () => {
    const agreeing = facts({ answers: [answer({ status: 402 }), answer({}), answer({ status: 503 })] });
    for (const check of [checkMoney, checkAnswers, checkEvents, checkStops, checkConnections])
      assert.deepEqual(check(agreeing), []);
  });

  it('accept a second payment when it is recorded', () => {
    const again = { ...SIGNED, nonce: '0xn2' };
    const second = { ...TRANSFER, nonce: '0xn2', transaction: '0xt2' };
    const changes = { buyers: [...facts().buyers, again], ledger: [TRANSFER, second] };
    const recorded = { ...PAYMENT, id: 'pay_2', transaction: '0xt2' };
    assert.deepEqual(checkMoney(facts({ ...changes, payments: [PAYMENT, recorded] })), []);
    assert.match(checkMoney(facts(changes)).join(), /0xt2 paid cs_1 \(complete\), which 0 payments record/);
  });

  it('accept a right signature of another time while a clock is set', () => {
    const untimely = { ...EXPIRED, at: 10_050, verified: false, untimely: true, reaction: 400 };
    const faults = [fault({ at: 10_000, ms: 100, fault: CLOCK_SET })];
    assert.deepEqual(checkEvents(facts({ received: [COMPLETED, EXPIRED, untimely], faults })), []);
  });

  describe('after a standby was promoted without the last commits', () => {
    const promoted = fault({ at: 1000, ms: 1000, fault: STANDBY_PROMOTED });
    const records = (changes: Partial<Evidence> = {}): Evidence => facts({ faults: [promoted], ...changes });

    it('take for forgotten what was sent, moved, made or told meanwhile, or a little before or after', () => {
      const sent = answer({ sessionId: 'cs_3', at: 500, ms: 600 });
      const told = { ...EXPIRED, sessionId: 'cs_4', at: 6900 };
      const later = { ...EXPIRED, sessionId: 'cs_5', at: 7001 };
      const { buyers, ...rest } = records({ received: [told, later] });
      const forgotten = forgottenIn({ ...rest, buyers: [...buyers, sent] });
      assert.deepEqual([...forgotten].sort(), ['cs_1', 'cs_2', 'cs_3', 'cs_4']);
      assert.equal(forgottenIn(facts()).size, 0);
    });

    it('accept a lost session only when it is forgotten, and lost money only when it is listed', () => {
      const gone = { sessions: new Map(), payments: [] };
      const forgotten = new Set(['cs_1', 'cs_2']);
      assert.deepEqual(checkMoney(records({ ...gone, forgotten, listed: new Set(['0xt1']) })), []);
      assert.match(checkMoney(records({ ...gone, forgotten })).join(), /0xt1 paid cs_1/);
      assert.match(
        checkMoney(records({ ...gone, listed: new Set(['0xt1']) })).join(),
        /does not exist any more/,
      );
    });

    it('accept a second event of one type, and none that was never delivered', () => {
      const again = { ...COMPLETED, eventId: 'evt_3' };
      const forgotten = new Set(['cs_1']);
      assert.deepEqual(checkEvents(records({ forgotten, received: [COMPLETED, again, EXPIRED] })), []);
      assert.match(checkEvents(records({ forgotten, received: [EXPIRED] })).join(), /no event was delivered/);
    });

    it('still report a buyer who was told for certain that nothing was taken', () => {
      const told = { kind: 'told_failed', at: 1900, sessionId: 'cs_1', nonce: '0xn1', code: 'x' } as const;
      const { buyers } = facts();
      const forgotten = new Set(['cs_1']);
      assert.match(
        checkAnswers(records({ forgotten, buyers: [...buyers, told] })).join(),
        /money moved 100 ms/,
      );
    });
  });

  const money: [string, Evidence, RegExp][] = [
    [
      'money for an open session',
      facts({ payments: [] }, { status: 'open', payment: null }),
      /is open, and 0xt1 paid/,
    ],
    [
      'a session left processing',
      facts({}, { status: 'processing', payment: null }),
      /cs_1 is left processing/,
    ],
    ['an undecided payment', facts({ undecided: 1 }), /1 payments are left undecided/],
    [
      'a complete session without a transfer',
      facts({ ledger: [], payments: [] }),
      /complete by 0xt1, and the ledger has nothing/,
    ],
    ['a payment without money', facts({ ledger: [] }), /pay_1 records 0xt1, which moved nothing/],
    ['the wrong transaction', facts({}, { payment: { transaction: '0xt9' } }), /complete by 0xt9/],
    [
      'an authorization used twice',
      facts({ ledger: [TRANSFER, TRANSFER] }),
      /1 authorizations moved money twice/,
    ],
    [
      'a session created twice',
      facts({ buyers: [SIGNED, ...facts().buyers.slice(1)] }),
      /creation was never answered/,
    ],
  ];
  for (const [what, wrong, violation] of money) {
    it(`report ${what}`, () => assert.match(checkMoney(wrong).join(), violation));
  }

  const answers: [string, Evidence, RegExp][] = [
    ['a 500 of a link', facts({ answers: [answer({ status: 500 })] }), /was answered 500/],
    [
      'a 402 after money moved',
      facts({ answers: [answer({ status: 402, at: 2001 })] }),
      /1 ms after its money had moved/,
    ],
    [
      'a second use of a signature',
      facts({ answers: [answer({ request: 'replay' })] }),
      /0xn1 had paid another link/,
    ],
    [
      'a reported failure whose money moved later',
      facts({ buyers: [...facts().buyers, { ...SIGNED, kind: 'told_failed', code: 'x' }] }),
      /reported as failed \(x\), and its money moved 500 ms later/,
    ],
    [
      'a process that ended',
      facts({ faults: [{ at: 1, fault: 'ended by itself' }] }),
      /a process ended by itself/,
    ],
    [
      'a process that exited badly',
      facts({ faults: [{ at: 1, fault: 'bad exit' }] }),
      /exited badly after SIGTERM/,
    ],
  ];
  for (const [what, wrong, violation] of answers) {
    it(`report ${what}`, () => assert.match(checkAnswers(wrong).join(), violation));
  }

  it('accept a failure that the facilitator falsely reported', () => {
    const failed: BuyersEntry = { ...SIGNED, kind: 'told_failed', code: 'insufficient_funds' };
    const answers = [answer({ status: 402, at: 2001 })];
    const lied = { answers, buyers: [...facts().buyers, failed], liedAbout: new Set(['0xn1']) };
    assert.deepEqual(checkAnswers(facts(lied)), []);
  });

  const LEFT = answer({ at: 10_000, ms: 3000, status: 0, code: 'UND_ERR_SOCKET' });
  const STOP = fault({ at: 12_000, fault: 'SIGTERM' });

  it('report a request that a stopping process left unanswered', () => {
    const left = checkStops(facts({ answers: [LEFT], faults: [STOP] }));
    assert.match(left.join(), /web-1 got SIGTERM and left pay of cs_1, sent 2000 ms before/);
  });

  const excusedBuyers: [string, Partial<Evidence>][] = [
    ['killed', { answers: [LEFT], faults: [fault({ at: 12_000, fault: 'SIGKILL' })] }],
    [
      'killed while it was stopping',
      { answers: [LEFT], faults: [STOP, fault({ at: 12_500, fault: 'SIGKILL' })] },
    ],
    ['not the one that stopped', { answers: [{ ...LEFT, web: 'web-2' }], faults: [STOP] }],
    ['stopping when the request was sent', { answers: [{ ...LEFT, at: 11_900 }], faults: [STOP] }],
    ['stopping when the caller timed out', { answers: [{ ...LEFT, code: 'TimeoutError' }], faults: [STOP] }],
  ];
  for (const [how, excused] of excusedBuyers) {
    it(`excuse an unanswered request to a process that was ${how}`, () => {
      assert.deepEqual(checkStops(facts(excused)), []);
    });
  }

  it('report a /settle call that was given up before its timeout', () => {
    const told = fault({ at: 49_000, fault: 'SIGTERM', services: ['worker-1'] });
    const cut = checkStops(facts({ calls: [call({ hungUpAfterMs: 1000 })], faults: [told] }));
    assert.match(cut.join(), /worker-1 cut \/settle of 0xn1 after 1000 ms/);
  });

  const ofWorker = { services: ['worker-1'] };
  const excusedCuts: [string, Partial<FacilitatorEntry>, Partial<FaultEntry>][] = [
    ['its timeout had passed', { hungUpAfterMs: 4000 }, { fault: 'SIGTERM' }],
    ['its process was killed', {}, { fault: 'SIGKILL' }],
    ['its process had been paused', {}, { fault: 'SIGSTOP and SIGCONT', at: 40_000, ms: 5000 }],
    [
      'its connection had been frozen',
      {},
      { fault: 'connections frozen', target: 'the facilitator', at: 44_000, ms: 2000 },
    ],
    ['it was /verify', { endpoint: 'verify' }, { fault: 'SIGTERM' }],
  ];
  for (const [why, change, what] of excusedCuts) {
    it(`accept a call that was given up because ${why}`, () => {
      const excuse = fault({ at: 50_500, ...ofWorker, ...what });
      const calls = [call({ hungUpAfterMs: 1000, ...change })];
      assert.deepEqual(checkStops(facts({ calls, faults: [excuse] })), []);
    });
  }

  it('report a connection that is left in a transaction', () => {
    const idle = { pid: 42, seconds: 3, since: '12:00', query: 'BEGIN' };
    const left = checkConnections(facts({ idleInTransaction: [idle] }));
    assert.match(left.join(), /connection 42 has been idle in a transaction since 12:00, after: BEGIN/);
    assert.deepEqual(checkConnections(facts({ idleInTransaction: [{ ...idle, seconds: 1 }] })), []);
  });

  const events: [string, Evidence, RegExp][] = [
    ['an event not received', facts({ received: [EXPIRED] }), /cs_1 is complete, and no event was delivered/],
    [
      'an event that was never acknowledged',
      facts({ received: [{ ...COMPLETED, reaction: 500 }, EXPIRED] }),
      /no event was delivered/,
    ],
    [
      'two events of one type',
      facts({ received: [COMPLETED, { ...COMPLETED, eventId: 'evt_9' }, EXPIRED] }),
      /two events of one type/,
    ],
    [
      'a wrong signature',
      facts({ received: [COMPLETED, { ...EXPIRED, verified: false }] }),
      /wrong signature/,
    ],
    [
      'a right signature of another time while no clock is set',
      facts({
        received: [COMPLETED, EXPIRED, { ...EXPIRED, verified: false, untimely: true, reaction: 400 }],
        faults: [fault({ at: 10_000, ms: 100, fault: CLOCK_SET })],
      }),
      /wrong signature/,
    ],
    [
      'both types without late money',
      facts({ received: [COMPLETED, EXPIRED, { ...EXPIRED, sessionId: 'cs_1', created: 3 }] }),
      /has an expired event and is complete/,
    ],
    [
      'an event that reaches a deleted endpoint',
      facts({
        endpoints: [{ kind: 'endpoint', at: 0, endpoint: 'other', is: 'deleted' }],
        received: [COMPLETED, EXPIRED, { ...COMPLETED, endpoint: 'other', at: 20_000 }],
      }),
      /1 events reached other after it was deleted/,
    ],
  ];
  for (const [what, wrong, violation] of events) {
    it(`report ${what}`, () => assert.match(checkEvents(wrong).join(), violation));
  }
});
