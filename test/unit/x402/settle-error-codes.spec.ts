import assert from 'node:assert/strict';
import { readVerifyAnswer } from '../../../shared/x402/facilitator/facilitator-answers.js';
import { meaningOf, SETTLE_ERROR_CODES } from '../../../shared/x402/facilitator/settle-error-codes.js';
import { FAILURE_CODES } from '../../support/failure-codes.js';
import { settle } from './answers.js';

const codes = [...SETTLE_ERROR_CODES];
const ofMeaning = (meaning: string): string[] =>
  codes.filter(([, code]) => code.meaning === meaning).map(([code]) => code);

/** Codes that say that a transaction was sent, or its fate, or that the outcome is unknown. */
const SAYS_SENT =
  /pending|duplicate|already_used|broadcast|receipt|confirm|timed_out|onchain|transaction_failed|tx_failed|execute_transfer|block_height|node_failure|verification_failed|(?:^|_)failed_to_(?!parse)|reverted|unknown|signing_failed/;
/** Codes that tell a fourth, fifth or … instruction that may not be there. */
const NAMES_INSTRUCTION = /unknown_(?:fourth|fifth|sixth|seventh|optional)_instruction$/;
/** A used authorization gets these, too. */
const SAYS_USED = /simulation|transaction_state|insufficient_(?:funds|balance)|_nonce$/;

/** Codes of refusals that were told though the money had moved. */
const SEEN = [
  'settle_exact_node_failure',
  'settle_exact_svm_block_height_exceeded',
  'invalid_exact_evm_verification_failed',
  'invalid_exact_evm_failed_to_execute_transfer',
  'invalid_exact_evm_failed_to_get_receipt',
  'invalid_exact_solana_transaction_confirmation_failed',
  'unknown_error',
];

describe('the list of error codes', () => {
  it('has a meaning and a source for each of 271 codes', () => {
    assert.equal(codes.length, 271);
    for (const [code, { meaning, sources }] of codes) {
      assert.match(code, /^[a-z0-9_]+$/);
      assert.match(meaning, /^(refusal|refusal_if_unused|unclear)$/);
      assert.notEqual(sources.length, 0, code);
      for (const source of sources) assert.match(source, /^(spec|cdp|circle|sdk)$/);
    }
  });

  it('has no refusal that says that a transaction was sent, confirmed, timed out or failed', () => {
    const sent = [...ofMeaning('refusal'), ...ofMeaning('refusal_if_unused')].filter(
      (code) => SAYS_SENT.test(code) && !NAMES_INSTRUCTION.test(code),
    );
    // Codes of a failed parse are told while the signature is read, before anything is sent.
    for (const code of sent) assert.match(code, /parse_failed$|failed_to_parse/);
  });

  it('has no code for a used authorization, or for a failed simulation, that is told without a chain check', () => {
    for (const code of ofMeaning('refusal')) assert.doesNotMatch(code, SAYS_USED);
  });

  for (const code of SEEN) it(`finds ${code} unclear`, () => assert.equal(meaningOf(code), 'unclear'));

  it('finds every code unclear that it does not have, and what is no code', () => {
    const words = ['a_word_of_tomorrow', 'INVALID_NETWORK', ' invalid_network', '', '__proto__'];
    for (const code of [...words, null, undefined, 7, {}])
      assert.equal(meaningOf(code), 'unclear', String(code));
  });

  it('has a refusal for every code of the specification', () => {
    const doubtful = FAILURE_CODES.filter((code) => meaningOf(code) === 'refusal_if_unused');
    assert.deepEqual(doubtful, [
      'insufficient_funds',
      'invalid_payload',
      'invalid_transaction_state',
      'unexpected_verify_error',
      'unexpected_settle_error',
    ]);
    for (const code of FAILURE_CODES) assert.notEqual(meaningOf(code), 'unclear', code);
  });

  it('decides how an answer with the code is read', () => {
    const read = { refusal: 'rejected', refusal_if_unused: 'rejected if unused', unclear: 'unknown' };
    for (const [code, { meaning }] of codes) {
      const verdict = settle({ success: false, errorReason: code, transaction: '' });
      const mayMeanUsed = verdict.kind === 'rejected' && verdict.mayMeanUsed;
      assert.equal(`${verdict.kind}${mayMeanUsed ? ' if unused' : ''}`, read[meaning], code);
      const body = JSON.stringify({ isValid: false, invalidReason: code });
      const verified = readVerifyAnswer({ status: 200, body });
      assert.equal(verified.kind === 'refused' && verified.mayMeanUsed, meaning !== 'refusal', code);
    }
  });
});
