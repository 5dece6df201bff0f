import assert from 'node:assert/strict';
import { readVerifyAnswer } from '../../../shared/x402/facilitator/facilitator-answers.js';
import { OWN_CODES } from '../../../shared/x402/failure-codes.js';
import {
  codeOf,
  failed,
  HTML,
  NO_BOOLEAN,
  NOTHING_SENT,
  PAYER,
  PERHAPS_SENT,
  verify,
  wrapped,
} from './answers.js';

const LACKS_FUNDS = { isValid: false, invalidReason: 'insufficient_funds' };

describe("a facilitator's answer to /verify", () => {
  it('is valid on isValid: true, with the payer', () => {
    assert.deepEqual(verify({ isValid: true, payer: PAYER }), { kind: 'valid', payer: PAYER });
  });

  for (const payer of [undefined, null, '', 7, {}, ' ', 'a\u0000b', 'x'.repeat(501)]) {
    it(`is valid without a payer: ${JSON.stringify(payer)?.slice(0, 20)}`, () => {
      assert.deepEqual(verify({ isValid: true, payer, extra: {}, extensions: null }), {
        kind: 'valid',
        payer: undefined,
      });
    });
  }

  it('is refused on isValid: false, with a code, a sentence and a class', () => {
    const verdict = verify({ isValid: false, invalidReason: 'invalid_exact_evm_insufficient_balance' });
    assert.equal(verdict.kind, 'refused');
    assert.equal(verdict.code, 'insufficient_funds');
    assert.equal(verdict.reason, 'invalid_exact_evm_insufficient_balance');
    assert.equal(verdict.class, 'buyer');
    assert.match(verdict.message, /enough/);
  });

  it('is refused without a reason', () => {
    for (const invalidReason of [undefined, null])
      assert.equal(codeOf(verify({ isValid: false, invalidReason })), 'payment_failed');
  });

  for (const word of OWN_CODES) {
    it(`is refused with another code than ${word}, which only this service can say`, () => {
      const answer = verify({ isValid: false, invalidReason: word });
      assert.equal(codeOf(answer), 'payment_failed');
      assert.ok(!('isUncertain' in answer));
    });
  }

  for (const status of [201, 400, 402, 404, 409, 412, 422]) {
    it(`counts with status ${status} and a boolean as with 200`, () => {
      assert.equal(codeOf(verify(LACKS_FUNDS, status)), 'insufficient_funds');
      assert.equal(verify({ isValid: true }, status).kind, 'valid');
    });
  }

  for (const status of [401, 408, 429, 500, 502, 503, 504, 302]) {
    it(`is no answer with status ${status}, whatever its body`, () => {
      for (const body of [LACKS_FUNDS, { isValid: true }, HTML, '']) {
        assert.deepEqual(verify(body, status), { kind: 'unavailable', why: `HTTP ${status}` });
      }
    });
  }

  it('counts with status 403 as with 200 when it gives a reason, and is no answer else', () => {
    for (const isValid of [false, undefined, null, 'false', 0])
      assert.equal(codeOf(verify({ isValid, invalidReason: 'kyt_risk_detected' }, 403)), 'kyt_risk_detected');
    const withoutReason = [{}, { isValid: false }, { isValid: false, invalidReason: '' }, { isValid: true }];
    for (const body of [...withoutReason, HTML, ''])
      assert.deepEqual(verify(body, 403), { kind: 'unavailable', why: 'HTTP 403' });
  });

  it('tells which words a used authorization gets too', () => {
    /** Whether a used authorization gets the word too, and whether an unused one seldom does. */
    const said = (invalidReason: unknown): boolean[] => {
      const verdict = verify({ isValid: false, invalidReason });
      return verdict.kind === 'refused' ? [verdict.mayMeanUsed, verdict.saysUsed] : [];
    };
    assert.deepEqual(said('invalid_exact_evm_payload_signature'), [false, false]);
    for (const word of ['insufficient_funds', 'invalid_payload'])
      assert.deepEqual(said(word), [true, false], word);
    for (const word of [
      'invalid_transaction_state',
      'invalid_exact_evm_nonce_already_used',
      'invalid_exact_evm_transaction_simulation_failed',
      'a_word_of_tomorrow',
      undefined,
    ])
      assert.deepEqual(said(word), [true, true], word);
  });

  for (const [title, body] of Object.entries(NO_BOOLEAN)) {
    it(`is no answer: ${title}`, () => {
      assert.equal(verify(body).kind, 'unavailable');
      assert.equal(verify(body, 400).kind, 'unavailable');
    });
  }

  for (const [title, error] of Object.entries({ ...NOTHING_SENT, ...PERHAPS_SENT })) {
    it(`is no answer: ${title}`, () => assert.equal(readVerifyAnswer({ error }).kind, 'unavailable'));
  }

  it('is not quoted where it is reported', () => {
    assert.deepEqual(verify(HTML), { kind: 'unavailable', why: 'HTTP 200 without a boolean isValid' });
    const error = wrapped(failed('ECONNREFUSED'));
    assert.deepEqual(readVerifyAnswer({ error }), { kind: 'unavailable', why: 'ECONNREFUSED' });
    const secret = verify({ isValid: false, invalidReason: 'x_y', invalidMessage: 'args: 0xsecret' });
    assert.doesNotMatch(JSON.stringify(secret), /secret/);
  });

  describe('by a Solana simulation', () => {
    const SIMULATION = 'invalid_exact_svm_transaction_simulation_failed';
    const error = (text: string): string => `Simulation failed: {"InstructionError":[${text}]}`;
    for (const [invalidMessage, code, invalidReason = SIMULATION] of [
      [error('"2",{"Custom":"1"}'), 'insufficient_funds'],
      [error('2,{"Custom":1}'), 'insufficient_funds'],
      [error('"2",{"Custom":"1"}'), 'invalid_payload', 'invalid_payload'],
      [error('"3",{"Custom":"1"}'), SIMULATION],
      [error('"2",{"Custom":"17"}'), SIMULATION],
      ['fetch failed', SIMULATION],
      [undefined, SIMULATION],
      [{ InstructionError: [2, { Custom: 1 }] }, SIMULATION],
    ] as const) {
      it(`means ${code} when it says ${JSON.stringify(invalidMessage)} beside ${invalidReason}`, () => {
        assert.equal(codeOf(verify({ isValid: false, invalidReason, invalidMessage })), code);
      });
    }
  });
});
