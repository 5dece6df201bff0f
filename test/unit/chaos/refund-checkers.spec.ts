import assert from 'node:assert/strict';
import type { BuyersEntry, Received, Transfer } from '../../../lab/chaos/actors/entries.js';
import type { Books, PublicRefund } from '../../../lab/chaos/check/books.js';
import { checkRefunds } from '../../../lab/chaos/check/check-refunds.js';

/** A payment of 450 cents, 300 of which are given back; whatever is changed in these books must be complained of. */
const REFUND: PublicRefund = {
  id: 're_1',
  status: 'succeeded',
  amount: 300,
  payment: 'pay_1',
  transaction: '0xt1',
};
const MADE: BuyersEntry = { kind: 'refund', at: 1000, refundId: 're_1', paymentId: 'pay_1' };
const SIGNED: BuyersEntry = {
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

function books(changes: Partial<Books> = {}, ...refunds: Partial<PublicRefund>[]): Books {
  const all = [REFUND, ...refunds].map((one) => ({ ...REFUND, ...one }));
  return {
    sessions: new Map(),
    refunds: new Map(all.map((one) => [one.id, one])),
    payments: [
      { id: 'pay_1', amount: 450, status: 'succeeded', transaction: '0xt0', checkout_session: 'cs_1' },
    ],
    undecided: 0,
    buyers: [MADE, SIGNED],
    answers: [],
    ledger: [TRANSFER],
    liedAbout: new Set(),
    received: TOLD,
    endpoints: [],
    faults: [],
    calls: [],
    idleInTransaction: [],
    ...changes,
  };
}

const SECOND = { id: 're_2', status: 'requires_action', transaction: null };
const second = { ...MADE, refundId: 're_2' } as BuyersEntry;
const createdToo: Received = { ...CREATED, eventId: 'evt_9', sessionId: 're_2' };

describe('the checker of refunds', () => {
  it('has nothing to say about books that agree', () => {
    assert.deepEqual(checkRefunds(books()), []);
    const both = books(
      { buyers: [MADE, SIGNED, second], received: [...TOLD, createdToo] },
      { ...SECOND, amount: 150 },
    );
    assert.deepEqual(checkRefunds(both), []);
  });

  it('takes money that came late as the one way over what was paid', () => {
    const late = [...TOLD, told('canceled', 'evt_4'), createdToo];
    const over = { buyers: [MADE, SIGNED, second], received: late };
    assert.deepEqual(checkRefunds(books(over, { ...SECOND, amount: 450 })), []);
  });

  const wrong: [string, Books, RegExp][] = [
    ['one left pending', books({}, { status: 'pending' }), /re_1 is left pending/],
    ['one that nothing paid', books({ ledger: [] }), /succeeded by 0xt1, and the ledger has nothing/],
    [
      'money for one that is open',
      books({}, { status: 'requires_action' }),
      /is requires_action, and 0xt1 paid it/,
    ],
    ['one made twice', books({ buyers: [SIGNED] }), /merchant was never told of it/],
    ['one that is gone', books({ buyers: [MADE, SIGNED, second] }), /re_2 was made and is gone/],
    [
      'an end that nobody was told',
      books({ received: TOLD.slice(0, 2) }),
      /is succeeded, and nobody was told/,
    ],
    [
      'an end told twice',
      books({ received: [...TOLD, told('succeeded', 'evt_5')] }),
      /to be succeeded 2 times/,
    ],
    [
      'a beginning that nobody was told',
      books({ received: TOLD.slice(1) }),
      /was made, and told so otherwise/,
    ],
    [
      'more given back than was paid',
      books({ buyers: [MADE, SIGNED, second], received: [...TOLD, createdToo] }, { ...SECOND, amount: 151 }),
      /of pay_1, 450 cents, 451 are given back/,
    ],
    [
      'more moved than was paid',
      books({ ledger: [{ ...TRANSFER, amount: '4500001' }] }),
      /and 4500001 units moved/,
    ],
  ];
  for (const [what, found, complaint] of wrong)
    it(`complains of ${what}`, () => assert.match(checkRefunds(found).join('\n'), complaint));
});
