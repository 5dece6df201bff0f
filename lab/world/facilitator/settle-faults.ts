import {
  altered,
  answersGarbage,
  answersHtml,
  answers as answersWith,
  type Behaviour,
  breaksAfterWork,
  type FacilitatorAnswer,
  failsAfterWork,
  slow,
} from './dial.js';
import { certaintyOf, WORDS } from './words.js';

/**
 * The certainty of an answer for its caller. After `hung up` the facilitator may still be processing: only a boolean
 * `success` is surely its own answer. `turned away` means that it has not read the payment.
 */
export type Certainty = 'settled' | 'refused' | 'refused doubtfully' | 'unclear' | 'hung up' | 'turned away';

/** A way in which `/settle` answers. Its `works` says nothing: the same answer may be given with the money moved or not. */
export interface SettleFault {
  certainty: Certainty;
  behaviour: Behaviour;
}

/** A hash of a transaction that never lands. */
const HASH = `0x${'ab'.repeat(32)}`;
/** An address that is no buyer's wallet. */
const STRANGER = `0x${'5a'.repeat(20)}`;

const SAID_WITHOUT_TRANSACTION = [
  'insufficient_funds',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_payload',
  'kyt_risk_detected',
  'kyt_refused',
  'settlement_pending',
  'duplicate_settlement',
  'settlement_timed_out',
  'transaction_not_confirmed',
  'invalid_exact_evm_nonce_already_used',
  'invalid_exact_evm_transaction_failed',
  'invalid_transaction_state',
  'unexpected_settle_error',
  'unexpected_verify_error',
  'invalid_nonce',
];
const SAID_WITH_TRANSACTION = [
  'insufficient_funds',
  'settlement_pending',
  'invalid_exact_evm_transaction_failed',
  'unexpected_settle_error',
];

const as = (certainty: Certainty, behaviour: Behaviour): SettleFault => ({ certainty, behaviour });
const byName = (words: readonly string[], name: (word: string) => [string, SettleFault]) =>
  Object.fromEntries(words.map(name));

/** The name of the fault that takes longer than the caller waits. */
const TOO_SLOW = 'too slow';

/** Every answer to `/settle` that differs from an honest success, by its name. */
export function settleFaults(tooSlowMs = 900): Readonly<Record<string, SettleFault>> {
  return {
    ...byName(SAID_WITHOUT_TRANSACTION, (word) => [word, as(certaintyOf(word), says(word))]),
    ...byName(SAID_WITH_TRANSACTION, (word) => [
      `${word} with a transaction`,
      as('unclear', says(word, { isNamed: true })),
    ]),
    [TOO_SLOW]: as('hung up', slow(tooSlowMs)),
    reset: as('hung up', breaksAfterWork('reset')),
    dropped: as('hung up', breaksAfterWork('drop')),
    'cut short': as('hung up', breaksAfterWork('truncate')),
    '502 as HTML': as('hung up', answersHtml(502)),
    '503 as HTML': as('hung up', answersHtml(503)),
    '504 as HTML': as('hung up', answersHtml(504)),
    '520 as HTML': as('hung up', answersHtml(520)),
    '408': as('hung up', failsAfterWork(408)),
    '500': as('hung up', failsAfterWork(500)),
    '400 without a verdict': as('hung up', answersWith(400)),
    garbage: as('hung up', answersGarbage()),
    '500 with a verdict': as('unclear', says('unexpected_settle_error', { status: 500 })),
    '408 with a verdict': as('unclear', says('kyt_risk_detected', { status: 408 })),
    'success without a transaction': as('unclear', altered({ success: true, transaction: '' })),
    'success with an undefined transaction': as(
      'unclear',
      altered({ success: true, transaction: undefined }),
    ),
    'another network': as('unclear', altered({ success: true, network: 'eip155:1' })),
    // On Solana the payer that a facilitator names may be another: there this is a success like any other.
    'another payer': as('unclear', altered({ success: true, payer: STRANGER })),
    '429 with the transaction': as('unclear', says('rate_limited', { status: 429, isNamed: true })),
    '401 and pending': as('hung up', answersWith(401, { status: 'pending' })),
    '403 and pending': as('unclear', says('settlement_pending', { status: 403 })),
    '403 with a reason': as('refused', says('kyt_risk_detected', { status: 403 })),
    'no payer and network': as('settled', altered({ network: '', payer: null })),
    '401': as('turned away', answersWith(401)),
    '403': as('turned away', answersWith(403)),
    '429': as('turned away', answersWith(429)),
  };
}

/** A failure with each word of real facilitators. */
export const WORD_FAULTS: Readonly<Record<string, SettleFault>> = byName(WORDS, (word) => [
  word,
  as(certaintyOf(word), says(word)),
]);

/** A failure. With `isNamed` it names the transaction, or a transaction that never lands when the work was skipped. */
function says(errorReason: string, { status = 200, isNamed = false } = {}): Behaviour {
  return {
    answer: (honest: FacilitatorAnswer | undefined) => {
      const body = { network: '', payer: null, transaction: HASH, ...Object(honest?.body) };
      const transaction = isNamed ? body.transaction || HASH : '';
      return { status, body: { ...body, success: false, errorReason, transaction } };
    },
  };
}
