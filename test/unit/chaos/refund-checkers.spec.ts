import assert from 'node:assert/strict';
import { checkRefunds } from '../../../lab/chaos/check/check-refunds.js';
import { type Evidence, NO_EVIDENCE, type PublicRefund } from '../../../lab/chaos/check/evidence.js';
import type { BuyersEntry, Received, Signing, Transfer } from '../../../lab/chaos/journals/entries.js';
import type { ExplainedPayment } from '../../../lab/world/history/judge-history.js';

/** A payment of 450 cents, 300 of them refunded. Each change of this evidence must be reported as a violation. */
const REFUND: PublicRefund = {
  id: 're_1',
  status: 'succeeded',
  amount: 300,
  payment: 'pay_1',
  transaction: '0xt1',
};
const MADE: BuyersEntry = { kind: 'refund', at: 1000, refundId: 're_1', paymentId: 'pay_1' };
const SIGNED: Signing = {
  kind: 'signed',
  at: 1500,
  sessionId: 're_1',
  nonce: '0xn1',
  family: 'evm',
  validBefore: 60,
};
const TRANSFER: Transfer = {
  at: 2000,
  nonce: '0xn1',
  transaction: '0xt1',
  from: '0xb',
  to: '0xa',
  amount: '3000000',
  succeeded: true,
};
const CREATED: Received = {
  at: 1000,
  endpoint: 'steady',
  verified: true,
  reaction: 200,
  eventId: 'evt_1',
  type: 'refund.created',
  created: 1,
  sessionId: 're_1',
  status: 'requires_action',
  transaction: null,
};
const told = (status: string, eventId: string): Received => ({
  ...CREATED,
  type: 'refund.updated',
  eventId,
  status,
});
const TOLD = [CREATED, told('pending', 'evt_2'), told('succeeded', 'evt_3')];

function recorded(transaction: string): ExplainedPayment {
  return { id: `pay_${transaction}`, status: 'succeeded', failureCode: null, transaction, history: [] };
}

function facts(changes: Partial<Evidence> = {}, ...refunds: Partial<PublicRefund>[]): Evidence {
  const all = [REFUND, ...refunds].map((one) => ({ ...REFUND, ...one }));
  return {
    ...NO_EVIDENCE,
    refunds: new Map(all.map((one) => [one.id, one])),
    payments: [
      { id: 'pay_1', amount: 450, status: 'succeeded', transaction: '0xt0', checkout_session: 'cs_1' },
    ],
    buyers: [MADE, SIGNED],
    ledger: [TRANSFER],
    received: TOLD,
    histories: [recorded('0xt1')],
    ...changes,
  };
}

const SECOND = { id: 're_2', status: 'requires_action', transaction: null };
const second = { ...MADE, refundId: 're_2' } as BuyersEntry;
const createdToo: Received = { ...CREATED, eventId: 'evt_9', sessionId: 're_2' };

describe('the check of refunds', () => {
  it('reports nothing about consistent evidence', () => {
    assert.deepEqual(checkRefunds(facts()), []);
    const both = facts(
      { buyers: [MADE, SIGNED, second], received: [...TOLD, createdToo] },
      { ...SECOND, amount: 150 },
    );
    assert.deepEqual(checkRefunds(both), []);
  });

  it('accepts refunds above the payment only with late money', () => {
    const late = [...TOLD, told('canceled', 'evt_4'), createdToo];
    const over = { buyers: [MADE, SIGNED, second], received: late };
    assert.deepEqual(checkRefunds(facts(over, { ...SECOND, amount: 450 })), []);
  });

  it('accepts money of an open refund only when a promoted standby may have forgotten it, and without a reference', () => {
    const open = facts({}, { status: 'requires_action', transaction: null });
    assert.deepEqual(checkRefunds({ ...open, forgotten: new Set(['re_1']) }), []);
    assert.match(checkRefunds(open).join(), /0xt1 paid it/);
    const onSolana = { ...open, buyers: [MADE, { ...SIGNED, family: 'svm' as const }] };
    assert.match(checkRefunds({ ...onSolana, forgotten: new Set(['re_1']) }).join(), /0xt1 paid it/);
  });

  it('waits until a second transfer of one refund is recorded', () => {
    const twice = {
      buyers: [MADE, SIGNED, { ...SIGNED, nonce: '0xn2' }],
      ledger: [TRANSFER, { ...TRANSFER, nonce: '0xn2', transaction: '0xt2' }],
      liedAbout: new Set(['0xn1']),
    };
    const failed = { ...recorded('0xt2'), status: 'failed' as const, transaction: null };
    assert.deepEqual(checkRefunds(facts({ ...twice, histories: [recorded('0xt1'), failed] })), [
      '0xt2 paid re_1, and no payment records it',
    ]);
    assert.deepEqual(checkRefunds(facts({ ...twice, histories: ['0xt1', '0xt2'].map(recorded) })), []);
  });

  const wrong: [string, Evidence, RegExp][] = [
    ['a refund left pending', facts({}, { status: 'pending' }), /re_1 is left pending/],
    [
      'a succeeded refund without a transfer',
      facts({ ledger: [] }),
      /succeeded by 0xt1, and the ledger has nothing/,
    ],
    [
      'money for an open refund',
      facts({}, { status: 'requires_action' }),
      /is requires_action, and 0xt1 paid it/,
    ],
    ['a refund created twice', facts({ buyers: [SIGNED] }), /creation was never answered/],
    [
      'a refund that does not exist any more',
      facts({ buyers: [MADE, SIGNED, second] }),
      /re_2 was created and does not exist any more/,
    ],
    [
      'a final status without an event',
      facts({ received: TOLD.slice(0, 2) }),
      /is succeeded, and no event was delivered/,
    ],
    [
      'two events of a final status',
      facts({ received: [...TOLD, told('succeeded', 'evt_5')] }),
      /has 2 events of status succeeded/,
    ],
    ['a creation without an event', facts({ received: TOLD.slice(1) }), /does not have one created event/],
    [
      'refunds above the payment',
      facts({ buyers: [MADE, SIGNED, second], received: [...TOLD, createdToo] }, { ...SECOND, amount: 151 }),
      /of pay_1, 450 cents, 451 are refunded/,
    ],
    [
      'transfers above the payment',
      facts({ ledger: [{ ...TRANSFER, amount: '4500001' }] }),
      /and 4500001 units moved/,
    ],
  ];
  for (const [what, found, violation] of wrong)
    it(`reports ${what}`, () => assert.match(checkRefunds(found).join('\n'), violation));
});
