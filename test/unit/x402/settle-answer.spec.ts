import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { readSettleAnswer } from '../../../shared/x402/facilitator/facilitator-answers.js';
import { describeFailure } from '../../../shared/x402/failure-codes.js';
import { FAILURE_CODES } from '../../support/failure-codes.js';
import {
  codeOf,
  FAILURE,
  failed,
  HASH,
  HTML,
  NOTHING_SENT,
  PAYER,
  SUCCESS,
  settle,
  wrapped,
} from './answers.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from './offers.js';

/**
 * Recorded refusals of the x402 library's own facilitator: test/unit/x402/failure-codes.spec.ts has the code that a buyer
 * gets for each.
 */
const SAID_BY_LIBRARY = [
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'asset_not_deployed_contract',
  'invalid_exact_svm_transaction_simulation_failed',
  'invalid_exact_svm_payload_signature_invalid',
  'invalid_exact_svm_payload_amount_mismatch',
  'invalid_exact_svm_payload_recipient_mismatch',
  'invalid_exact_svm_payload_mint_mismatch',
  'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  'invalid_exact_svm_payload_missing_fee_payer',
  'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction',
  'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high',
  'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
  'invalid_exact_svm_payload_no_transfer_instruction',
  'invalid_exact_svm_payload_unknown_fourth_instruction',
  'invalid_exact_svm_payload_memo_mismatch',
];

describe("reading a facilitator's answer to /settle", () => {
  describe('is settled', () => {
    it('on success with a transaction', () => {
      assert.deepEqual(settle(SUCCESS), { kind: 'settled', transaction: HASH, payer: PAYER });
    });

    for (const payer of ['', null, undefined]) {
      it(`with the payer ${JSON.stringify(payer)}`, () => {
        assert.deepEqual(settle({ ...SUCCESS, payer }), {
          kind: 'settled',
          transaction: HASH,
          payer: undefined,
        });
      });
    }

    it('with a hash in any spelling, since one transaction has one name', () => {
      const upper = HASH.slice(2).toUpperCase();
      for (const transaction of [`0x${upper}`, `0X${upper}`, HASH.slice(2), upper, ` ${HASH}`, `${HASH}  `])
        assert.deepEqual(settle({ ...SUCCESS, transaction }), settle(SUCCESS), transaction);
    });

    it('with a padded signature of Solana', () => {
      const transaction = '5'.repeat(88);
      const padded = settle({ ...SUCCESS, transaction: ` ${transaction} ` });
      assert.deepEqual(padded, settle({ ...SUCCESS, transaction }));
    });

    for (const changes of [
      ...['x', '5'.repeat(88), 'pending:1', '0x0'].map((transaction) => ({ transaction })),
      ...['', null, undefined, 'base-sepolia', 84532, {}].map((network) => ({ network })),
      { amount: '1', extensions: {}, errorReason: null },
      ...['', ' '].map((errorReason) => ({ errorReason })),
      ...['success', 'confirmed'].map((status) => ({ status })),
    ]) {
      it(`with ${inspect(changes)}`, () => {
        assert.equal(settle({ ...SUCCESS, ...changes }).kind, 'settled');
      });
    }

    it('on Solana by its name of version 1', () => {
      assert.equal(settle({ ...SUCCESS, network: 'solana-devnet' }, 200, SOLANA_DEVNET).kind, 'settled');
    });

    for (const status of [201, 400, 402]) {
      it(`with status ${status}, since it has a boolean`, () => {
        assert.equal(settle(SUCCESS, status).kind, 'settled');
      });
    }
  });

  describe('is rejected at once', () => {
    it('with a code, a sentence and a class', () => {
      const verdict = settle(FAILURE);
      assert.equal(verdict.kind, 'rejected');
      assert.equal(verdict.code, 'insufficient_funds');
      assert.equal(verdict.class, 'buyer');
      assert.match(verdict.message, /enough/);
    });

    for (const errorReason of [...FAILURE_CODES, 'eip6492_factory_not_allowed', 'kyt_risk_detected']) {
      it(`for ${errorReason}`, () => {
        assert.equal(codeOf(settle({ ...FAILURE, errorReason })), errorReason);
      });
    }

    for (const reason of SAID_BY_LIBRARY) {
      it(`for ${reason}, as the x402 library's facilitator says it`, () => {
        const answer = { ...FAILURE, errorReason: reason, payer: PAYER };
        assert.equal(codeOf(settle(answer)), describeFailure(reason).code);
      });
    }

    for (const changes of [
      ...[null, undefined].map((transaction) => ({ transaction })),
      ...['', undefined, 'base-sepolia'].map((network) => ({ network })),
      { payer: null },
    ]) {
      it(`with ${inspect(changes)}`, () => {
        assert.equal(settle({ ...FAILURE, ...changes }).kind, 'rejected');
      });
    }

    for (const status of [400, 402, 403, 404, 409, 412, 422]) {
      it(`with status ${status}, since it has a boolean`, () => {
        assert.equal(codeOf(settle(FAILURE, status)), 'insufficient_funds');
      });
    }
  });

  it('of status 403 with a reason is a failure without a boolean, too', () => {
    const errorReason = 'kyt_risk_detected';
    for (const success of [undefined, null, 'false', 0]) {
      assert.equal(codeOf(settle({ success, errorReason }, 403)), errorReason);
      assert.equal(settle({ success, errorReason: 'a_word_of_tomorrow' }, 403).kind, 'unknown');
    }
    assert.equal(settle({ errorReason, transaction: HASH }, 403).kind, 'unknown');
    assert.equal(settle({ errorReason }, 400).kind, 'unknown');
  });

  describe('was not processed', () => {
    for (const status of [401, 403, 429]) {
      it(`with status ${status}, when the body does not mention the payment`, () => {
        const unread = status === 403 ? { ...FAILURE, errorReason: '' } : FAILURE;
        for (const body of ['', HTML, { error: 'unauthorized' }, unread]) {
          assert.deepEqual(settle(body, status), { kind: 'not_processed', why: `HTTP ${status}` });
        }
      });
    }

    for (const [title, error] of Object.entries(NOTHING_SENT)) {
      it(`after ${title}`, () =>
        assert.equal(readSettleAnswer({ error }, BASE_SEPOLIA).kind, 'not_processed'));
    }

    it('and reports why', () => {
      const error = wrapped(failed('ENOTFOUND'));
      assert.deepEqual(readSettleAnswer({ error }, BASE_SEPOLIA), {
        kind: 'not_processed',
        why: 'ENOTFOUND',
        isUnsent: true,
      });
    });
  });
});
