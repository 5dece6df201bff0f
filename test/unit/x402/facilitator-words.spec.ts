import assert from 'node:assert/strict';
import { readVerifyAnswer } from '../../../shared/x402/facilitator-answers.js';
import { FACILITATOR_WORDS, meaningOf } from '../../../shared/x402/facilitator-words.js';
import { FAILURE_CODES } from '../../support/failure-codes.js';
import { settle } from './answers.js';

const words = [...FACILITATOR_WORDS];
const ofMeaning = (meaning: string): string[] =>
  words.filter(([, word]) => word.meaning === meaning).map(([word]) => word);

/** Words that say that a transaction was sent, or what became of it, or that nobody knows. */
const SAYS_SENT =
  /pending|duplicate|already_used|broadcast|receipt|confirm|timed_out|onchain|transaction_failed|tx_failed|execute_transfer|block_height|node_failure|verification_failed|(?:^|_)failed_to_(?!parse)|reverted|unknown|signing_failed/;
/** Words that tell a fourth, fifth or … instruction that may not be there. */
const NAMES_INSTRUCTION = /unknown_(?:fourth|fifth|sixth|seventh|optional)_instruction$/;
/** A used authorization gets these, too. */
const SAYS_USED = /simulation|transaction_state|insufficient_(?:funds|balance)|_nonce$/;

/** After each of these a refusal was told though the money had moved. */
const SEEN = [
  'settle_exact_node_failure',
  'settle_exact_svm_block_height_exceeded',
  'invalid_exact_evm_verification_failed',
  'invalid_exact_evm_failed_to_execute_transfer',
  'invalid_exact_evm_failed_to_get_receipt',
  'invalid_exact_solana_transaction_confirmation_failed',
  'unknown_error',
];

describe('the list of facilitators’ words', () => {
  it('has a meaning and a source for each of 271 words', () => {
    assert.equal(words.length, 271);
    for (const [word, { meaning, sources }] of words) {
      assert.match(word, /^[a-z0-9_]+$/);
      assert.match(meaning, /^(refusal|refusal_if_unused|unclear)$/);
      assert.notEqual(sources.length, 0, word);
      for (const source of sources) assert.match(source, /^(spec|cdp|circle|sdk)$/);
    }
  });

  it('has no refusal that says that a transaction was sent, confirmed, timed out or failed', () => {
    const sent = [...ofMeaning('refusal'), ...ofMeaning('refusal_if_unused')].filter(
      (word) => SAYS_SENT.test(word) && !NAMES_INSTRUCTION.test(word),
    );
    // It failed while the signature was read.
    assert.deepEqual(
      sent.filter((word) => !/parse_failed$|failed_to_parse/.test(word)),
      [],
    );
  });

  it('has no word for a used authorization, or for a failed simulation, that is told without a look at the chain', () => {
    assert.deepEqual(
      ofMeaning('refusal').filter((word) => SAYS_USED.test(word)),
      [],
    );
  });

  for (const word of SEEN) it(`finds ${word} unclear`, () => assert.equal(meaningOf(word), 'unclear'));

  it('finds every word unclear that it does not have, and what is no word', () => {
    for (const word of [
      'a_word_of_tomorrow',
      'INVALID_NETWORK',
      ' invalid_network',
      '',
      null,
      undefined,
      7,
      {},
      '__proto__',
    ]) {
      assert.equal(meaningOf(word), 'unclear', String(word));
    }
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

  it('decides how an answer with the word is read', () => {
    const read = { refusal: 'rejected', refusal_if_unused: 'rejected if unused', unclear: 'unknown' };
    for (const [word, { meaning }] of words) {
      const verdict = settle({ success: false, errorReason: word, transaction: '' });
      const ifUsedToo = verdict.kind === 'rejected' && verdict.ifUsedToo;
      assert.equal(`${verdict.kind}${ifUsedToo ? ' if unused' : ''}`, read[meaning], word);
      const body = JSON.stringify({ isValid: false, invalidReason: word });
      const verified = readVerifyAnswer({ status: 200, body });
      assert.equal(verified.kind === 'refused' && verified.ifUsedToo, meaning !== 'refusal', word);
    }
  });
});
