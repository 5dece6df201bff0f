import assert from 'node:assert/strict';
import type { Arrival } from '../../../shared/chains/check/arrival.js';
import type { BookedPayable, BookedPayment } from '../../../shared/reconcile/books.js';
import { type Judgement, judgeArrival, type Known } from '../../../shared/reconcile/judge-arrival.js';

const WALLET = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const TRANSACTION = `0x${'ab'.repeat(32)}`;
const ARRIVAL: Arrival = {
  network: 'eip155:84532',
  asset: USDC,
  payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  payTo: WALLET,
  amount: 4_500_000n,
  transaction: TRANSACTION,
  height: 7,
  proofIndex: 8,
  references: [],
  payload: undefined,
  at: new Date(0),
};
const BOOKED: BookedPayment = {
  kind: 'kept',
  id: 'pay_1',
  payableId: 'cs_test_1',
  accountId: 'acct_1',
  status: 'succeeded',
  transaction: TRANSACTION.toUpperCase().replace('0X', '0x'),
  asset: USDC.toLowerCase(),
  payTo: WALLET.toLowerCase(),
  tokenAmount: '4500000',
};
const ARCHIVED: BookedPayment = {
  kind: 'archived',
  id: 'pay_1',
  payableId: 'cs_test_1',
  transaction: TRANSACTION,
};
const ASKED: BookedPayable = {
  id: 'cs_test_1',
  accountId: 'acct_1',
  livemode: false,
  amountCents: 450,
  refund: null,
  wallets: ['0x0000000000000000000000000000000000000001', WALLET],
};
const TERMS = {
  checkoutSession: 'cs_test_2',
  reference: null,
  reason: null,
  token: 'USDC',
  tokenAmount: '4500000',
  tokenDecimals: 6,
  network: 'eip155:84532',
  networkName: 'Base Sepolia',
  asset: USDC,
  payTo: WALLET.toLowerCase(),
} as const;
const REFUND: BookedPayable = { ...ASKED, id: 're_1', refund: TERMS, wallets: [] };
const UNKNOWN: Known = { booked: undefined, payableId: undefined, payable: undefined, isMerchants: true };

function say(judgement: Judgement): string {
  if (!('line' in judgement)) return judgement.kind;
  const { status, obstacle, differs = [], payableId, paymentId } = judgement.line;
  const as = judgement.kind === 'recordable' ? ['recordable'] : [];
  return [status, obstacle, ...differs, payableId, paymentId, ...as].filter(Boolean).join(' ');
}

const ROWS: [what: string, known: Partial<Known>, said: string, arrival?: Partial<Arrival>][] = [
  [
    'a succeeded payment has it, whatever the case of its addresses',
    { booked: BOOKED },
    'matched cs_test_1 pay_1',
  ],
  ['of another amount', { booked: BOOKED }, 'different amount cs_test_1 pay_1', { amount: 4_500_001n }],
  [
    'in another transaction',
    { booked: { ...BOOKED, transaction: `0x${'cd'.repeat(32)}` } },
    'different transaction cs_test_1 pay_1',
  ],
  [
    'in no transaction that is known',
    { booked: { ...BOOKED, transaction: null } },
    'different transaction cs_test_1 pay_1',
  ],
  ['at another wallet', { booked: { ...BOOKED, payTo: USDC } }, 'different receiver cs_test_1 pay_1'],
  ['in another token', { booked: { ...BOOKED, asset: WALLET } }, 'different token cs_test_1 pay_1'],
  [
    'a payment in progress has it',
    { booked: { ...BOOKED, status: 'processing', transaction: null } },
    'undecided',
  ],
  [
    'a failed payment has its signature',
    { booked: { ...BOOKED, status: 'failed', transaction: null } },
    'unrecorded cs_test_1 pay_1 recordable',
  ],
  [
    'a failed payment has its signature, for less',
    { booked: { ...BOOKED, status: 'failed', transaction: null } },
    'different amount cs_test_1 pay_1',
    { amount: 4_499_999n },
  ],
  ['an archived payment has it', { booked: ARCHIVED }, 'matched cs_test_1 pay_1'],
  [
    'an archived payment has another transaction',
    { booked: { ...ARCHIVED, transaction: USDC } },
    'different transaction cs_test_1 pay_1',
  ],
  [
    'an archived payment failed',
    { booked: { ...ARCHIVED, transaction: null } },
    'unrecorded payment_archived cs_test_1 pay_1',
  ],
  [
    'a payment has it, and its reference names another session',
    { booked: BOOKED, payableId: 'cs_test_9' },
    'matched cs_test_1 pay_1',
  ],
  [
    'its reference names a session',
    { payableId: 'cs_test_1', payable: ASKED },
    'unrecorded cs_test_1 recordable',
  ],
  [
    'its reference names a session that asks for another amount',
    { payableId: 'cs_test_1', payable: { ...ASKED, amountCents: 451 } },
    'different amount cs_test_1',
  ],
  [
    "its reference names another merchant's session",
    { payableId: 'cs_test_1', payable: { ...ASKED, wallets: [USDC] } },
    'different receiver cs_test_1',
  ],
  [
    'its reference names a live session',
    { payableId: 'cs_test_1', payable: { ...ASKED, livemode: true } },
    'different token cs_test_1',
  ],
  [
    'its token is not offered',
    { payableId: 'cs_test_1', payable: ASKED },
    'different token cs_test_1',
    { asset: WALLET },
  ],
  [
    'its reference names a session that is gone',
    { payableId: 'cs_test_1' },
    'unrecorded session_gone cs_test_1',
  ],
  [
    "its reference names a refund, at a buyer's wallet",
    { payableId: 're_1', payable: REFUND, isMerchants: false },
    'unrecorded re_1 recordable',
  ],
  [
    'its reference names a refund on another network',
    { payableId: 're_1', payable: { ...REFUND, refund: { ...TERMS, network: 'eip155:80002' } } },
    'different token re_1',
  ],
  [
    'its reference names a refund to another wallet',
    { payableId: 're_1', payable: { ...REFUND, refund: { ...TERMS, payTo: USDC } } },
    'different receiver re_1',
  ],
  [
    'its reference names a refund of another amount',
    { payableId: 're_1', payable: { ...REFUND, refund: { ...TERMS, tokenAmount: '1' } } },
    'different amount re_1',
  ],
  ["nothing is known of it, at a merchant's wallet", {}, 'unrecorded no_reference'],
  ["nothing is known of it, at a buyer's wallet", { isMerchants: false }, 'not_ours'],
];

describe('money that arrived', () => {
  for (const [what, known, said, arrival] of ROWS) {
    it(`is "${said}" when ${what}`, () => {
      assert.equal(say(judgeArrival({ ...ARRIVAL, ...arrival }, { ...UNKNOWN, ...known })), said);
    });
  }
});
