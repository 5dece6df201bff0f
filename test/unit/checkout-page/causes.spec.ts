import assert from 'node:assert/strict';
import { LANGUAGES } from '../../../api/checkout-page/language.js';
import { causeOfCode } from '../../../api/checkout-page/words/cause-of-code.js';
import {
  type Cause,
  causeOfWalletError,
  NEXT_STEPS,
  NEXT_TIME,
} from '../../../api/checkout-page/words/causes.js';
import { BUYER_ERRORS } from '../../../api/errors/buyer-errors.js';
import { FAILURE_CODES } from '../../support/failure-codes.js';
import { FACILITATOR_CODES } from '../../support/page/facilitator-codes.js';
import { WALLET_ERRORS } from '../../support/page/wallet-errors.js';

const CAUSES = Object.keys(NEXT_STEPS) as Cause[];
/** Causes that a retry cannot fix. */
const LASTING: Cause[] = [
  'failedFunds',
  'failedFee',
  'failedAltered',
  'failedContract',
  'failedSetup',
  'failedRefused',
  'failedNetwork',
  'failedSignature',
  'failedChanged',
  'failedOther',
  'walletNoMethod',
  'walletNoTyped',
  'walletNoNetwork',
  'wrongNetwork',
  'notEnough',
  'enoughNowhere',
  'otherPaid',
  'otherPaying',
  'overMeanwhile',
];

describe('the cause of a failed payment', () => {
  for (const [cause, codes] of Object.entries(FACILITATOR_CODES)) {
    it(`is ${cause} for ${codes.length} codes of facilitators`, () => {
      for (const code of codes) assert.equal(causeOfCode(code), cause, code);
    });
  }

  it('is known for every code of the specification and of the service', () => {
    const known = new Set(Object.values(FACILITATOR_CODES).flat());
    assert.deepEqual(
      FAILURE_CODES.filter((code) => !known.has(code)),
      [],
    );
    const unnamed = Object.keys(BUYER_ERRORS).filter((code) => causeOfCode(code) === 'failedOther');
    assert.deepEqual(unnamed.sort(), ['method_not_allowed', 'resource_missing', 'session_already_paid']);
  });

  it('is generic for an unknown code', () => {
    for (const code of ['payment_failed', 'something_new', ''])
      assert.equal(causeOfCode(code), 'failedOther');
  });

  for (const { wallet, thrown, step, cause } of WALLET_ERRORS) {
    it(`is ${cause ?? 'unknown'} when ${wallet} throws ${JSON.stringify(thrown)} while ${step}`, () => {
      assert.equal(causeOfWalletError(thrown, step), cause);
    });
  }

  it('offers no retry where a retry cannot help', () => {
    const repeated: readonly string[] = NEXT_TIME;
    assert.deepEqual(
      CAUSES.filter((cause) => repeated.includes(NEXT_STEPS[cause]) && LASTING.includes(cause)),
      [],
    );
    const unjudged = CAUSES.filter(
      (cause) =>
        !LASTING.includes(cause) &&
        !repeated.includes(NEXT_STEPS[cause]) &&
        NEXT_STEPS[cause] !== 'closeWallet',
    );
    assert.deepEqual(unjudged, []);
  });

  for (const { tag, words } of LANGUAGES) {
    it(`has a text of its own and a next step in ${tag}`, () => {
      const said = CAUSES.map((cause) => words[cause]);
      assert.equal(new Set(said).size, CAUSES.length);
      for (const sentence of [...said, ...CAUSES.map((cause) => words[NEXT_STEPS[cause]])]) {
        assert.match(sentence, /[.。।]$/);
      }
      for (const next of new Set(Object.values(NEXT_STEPS))) assert.doesNotMatch(words[next], /[{}]/, next);
      const lasting = new Set(LASTING.map((cause) => words[NEXT_STEPS[cause]]));
      assert.ok(!lasting.has(words.nextAgain));
    });
  }
});
