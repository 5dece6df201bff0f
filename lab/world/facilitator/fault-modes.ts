import {
  altered,
  answers,
  answersGarbage,
  answersHtml,
  type Behaviour,
  breaksAfterWork,
  breaksBeforeWork,
  failsAfterWork,
  failsToSettle,
  refuses,
  settlesAsPending,
  slow,
} from './dial.js';

const HASH = `0x${'ab'.repeat(32)}`;
const DENIAL = { success: false, errorReason: 'insufficient_funds', transaction: '' };

/** Every way in which a facilitator answers /settle, except a clear statement that is false. */
export const SETTLE_FAULT_MODES: readonly (() => Behaviour)[] = [
  ...Array.from({ length: 10 }, () => () => ({})),
  settlesAsPending,
  () => failsToSettle('settlement_pending', HASH),
  () => failsToSettle('settlement_pending'),
  () => failsToSettle('invalid_exact_evm_transaction_failed', HASH),
  () => failsToSettle('invalid_exact_evm_transaction_failed'),
  () => failsToSettle('invalid_exact_evm_nonce_already_used'),
  () => failsToSettle('duplicate_settlement'),
  ...[
    'settlement_pending',
    'duplicate_settlement',
    'invalid_exact_evm_nonce_already_used',
    'invalid_exact_evm_transaction_failed',
  ].map((errorReason) => () => altered({ success: false, errorReason, transaction: '' })),
  () => failsToSettle('insufficient_funds'),
  () => failsToSettle('insufficient_funds', HASH),
  () => failsToSettle('invalid_exact_evm_payload_signature'),
  () => breaksBeforeWork('reset'),
  () => breaksBeforeWork('drop'),
  () => breaksAfterWork('reset'),
  () => breaksAfterWork('drop'),
  () => breaksAfterWork('truncate'),
  () => failsAfterWork(500),
  () => failsAfterWork(502, '<html>bad gateway</html>'),
  () => failsAfterWork(504, '<html>gateway timeout</html>'),
  () => altered({ success: false, errorReason: 'unexpected_settle_error' }, 500),
  () => answers(500, { success: false, errorReason: 'unexpected_settle_error', transaction: '' }),
  () => altered({ transaction: '' }),
  () => altered({ transaction: undefined }),
  () => altered({ network: 'eip155:8453' }),
  () => altered({ network: '', payer: null }),
  () => answers(401),
  () => answers(403),
  () => answers(429),
  () => answers(500),
  () => answersHtml(503),
  () => answersGarbage(),
  () => slow(900),
  () => slow(900, { works: false }),
];

/**
 * Reasons that facilitators also give for a used authorization: the service checks the chain before it believes them.
 */
export const REFUSED_IF_USED_TOO = [
  'invalid_transaction_state',
  'unexpected_settle_error',
  'unexpected_verify_error',
  'invalid_nonce',
] as const;

/** Answers that contradict themselves: done or not done, and refused with a hint of the opposite. */
export const AMBIGUOUS_FAULT_MODES: readonly (() => Behaviour)[] = [
  ...REFUSED_IF_USED_TOO.flatMap((errorReason) => [
    () => altered({ success: false, errorReason, transaction: '' }),
    () => failsToSettle(errorReason),
  ]),
  () => altered({}, 429),
  () => altered({ success: false, errorReason: 'settlement_pending', transaction: '' }, 403),
  () => answers(401, { status: 'pending' }),
  () => answers(429, { transaction: HASH }),
];

/** Clear failures although the money moves, before the answer or after it. */
export const LYING_FAULT_MODES: readonly (() => Behaviour)[] = [
  () => altered(DENIAL),
  () => ({ works: 'after_answering', answer: () => ({ status: 200, body: DENIAL }) }),
];

export const VERIFY_FAULT_MODES: readonly (() => Behaviour)[] = [
  ...Array.from({ length: 14 }, () => () => ({})),
  () => answers(500),
  () => answers(401),
  () => answers(429),
  () => answersHtml(502),
  () => answersGarbage(),
  () => refuses('insufficient_funds'),
  () => breaksBeforeWork('reset'),
  () => slow(900),
];
