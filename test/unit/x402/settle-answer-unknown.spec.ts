import assert from 'node:assert/strict';
import { readSettleAnswer } from '../../../shared/x402/facilitator/facilitator-answers.js';
import type { SettleVerdict } from '../../../shared/x402/facilitator/settle-verdict.js';
import { FAILURE, HASH, HTML, NO_BOOLEAN, PERHAPS_SENT, SUCCESS, settle } from './answers.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from './offers.js';

const unknown = (why: string, transaction?: string): SettleVerdict => ({
  kind: 'unknown',
  why,
  transaction,
  mayStillRun: false,
});

describe("reading a facilitator's answer to /settle that", () => {
  describe('is unknown', () => {
    for (const [title, error] of Object.entries(PERHAPS_SENT)) {
      it(`after ${title}`, () => assert.equal(readSettleAnswer({ error }, BASE_SEPOLIA).kind, 'unknown'));
    }

    for (const [title, body] of Object.entries(NO_BOOLEAN)) {
      it(`after ${title}`, () => {
        assert.equal(settle(body).kind, 'unknown');
        assert.equal(settle(body, 400).kind, 'unknown');
      });
    }

    for (const status of [401, 403, 429]) {
      it(`after status ${status} that names a transaction, SUCCESS, or that it is pending`, () => {
        for (const body of [
          SUCCESS,
          { ...FAILURE, transaction: HASH },
          { transaction: HASH },
          { success: true },
          { ...FAILURE, errorReason: 'settlement_pending' },
          { ...FAILURE, errorReason: 'duplicate_settlement' },
          { error: 'settlement_pending' },
          { status: 'pending' },
          { code: '0', data: [{ success: true, transaction: '' }] },
          { data: { result: { transaction: HASH } } },
          { error: { details: ['settlement_pending'] } },
        ]) {
          const verdict = settle(body, status);
          assert.equal(verdict.kind, 'unknown', JSON.stringify(body));
          const { transaction } = body as { transaction?: string };
          assert.equal(verdict.transaction, transaction || undefined);
        }
      });
    }

    for (const status of [408, 500, 502, 503, 504, 520, 529, 302, 100]) {
      it(`after status ${status} with any body`, () => {
        for (const body of ['', HTML, FAILURE, SUCCESS, { ...FAILURE, errorReason: 'settlement_pending' }]) {
          assert.equal(settle(body, status).kind, 'unknown');
        }
      });
    }

    it('after a 5xx, with the transaction that it names', () => {
      const pending = { ...FAILURE, errorReason: 'settlement_pending', transaction: HASH };
      assert.deepEqual(settle(pending, 500), unknown('HTTP 500', HASH));
    });

    for (const transaction of [undefined, null, '', '  ', 7, {}, 'a\u0000b', '\ud800', 'x'.repeat(501)]) {
      it(`after success with the transaction ${JSON.stringify(transaction)?.slice(0, 20)}`, () => {
        assert.deepEqual(settle({ ...SUCCESS, transaction }), unknown('success without a transaction'));
      });
    }

    for (const contradiction of [
      { errorReason: 'insufficient_funds' },
      { errorReason: 'a_word_of_tomorrow' },
      { errorReason: 'settlement_pending' },
      { status: 'pending' },
      { status: 'TIMEOUT' },
      { status: 'failed' },
    ]) {
      it(`after success beside ${JSON.stringify(contradiction)}, with the transaction`, () => {
        for (const status of [200, 400]) {
          const verdict = settle({ ...SUCCESS, ...contradiction }, status);
          assert.equal(verdict.kind, 'unknown');
          assert.equal(verdict.transaction, HASH);
        }
      });
    }

    for (const contradiction of [
      { data: SUCCESS },
      { error: { details: ['settlement_pending'] } },
      { status: 'pending' },
      { result: [{ transaction: HASH }] },
      { txHash: HASH },
      { transactionHash: HASH },
    ]) {
      it(`after a failure beside ${JSON.stringify(contradiction).slice(0, 40)}`, () => {
        assert.equal(settle({ ...FAILURE, ...contradiction }).kind, 'unknown');
      });
    }

    for (const network of ['eip155:8453', 'base', SOLANA_DEVNET, 'solana', 'somewhere', ' ']) {
      it(`after an answer about ${JSON.stringify(network)}`, () => {
        for (const answer of [SUCCESS, FAILURE])
          assert.deepEqual(settle({ ...answer, network }), unknown('another network'));
      });
    }

    it('after a failure that names a transaction, with any reason', () => {
      for (const errorReason of ['insufficient_funds', undefined]) {
        const verdict = settle({ ...FAILURE, errorReason, transaction: HASH });
        assert.equal(verdict.kind, 'unknown');
        assert.equal(verdict.transaction, HASH);
      }
      for (const transaction of [' ', 7, {}, [], true]) {
        assert.equal(settle({ ...FAILURE, transaction }).kind, 'unknown');
      }
    });

    for (const errorReason of [
      ...['settlement_pending', 'SETTLEMENT_PENDING', 'duplicate_settlement', 'timed_out', 'unknown_error'],
      ...['nonce_already_used', 'invalid_exact_evm_nonce_already_used', 'transaction_failed'],
      ...['invalid_exact_evm_transaction_failed', 'invalid_exact_svm_transaction_failed'],
      'settle_exact_svm_transaction_confirmation_timed_out',
      ...['post_settlement_transfer_not_confirmed', 'not_confirmed_by_kyt', 'kyt_sanctioned_address'],
      // These two resemble words about the seller that are on the list.
      ...['tomorrows_registration_required', 'tomorrows_to_address_sanctioned'],
      ...['a_word_of_tomorrow', 'INSUFFICIENT_FUNDS', 'Execution reverted!'],
      ...['', null, undefined, 7, ['insufficient_funds']],
    ]) {
      it(`after ${errorReason}`, () => {
        assert.equal(settle({ ...FAILURE, errorReason }).kind, 'unknown');
        assert.equal(settle({ ...FAILURE, errorReason }, 400).kind, 'unknown');
      });
    }

    it('and may still be carried out when no facilitator has answered: without a boolean', () => {
      const mayStillRun = (verdict: SettleVerdict): boolean =>
        verdict.kind === 'unknown' && verdict.mayStillRun;
      for (const error of Object.values(PERHAPS_SENT)) {
        assert.equal(mayStillRun(readSettleAnswer({ error }, BASE_SEPOLIA)), true);
      }
      for (const status of [200, 400, 404, 408, 500, 502, 503, 504, 520, 524, 302]) {
        for (const body of [HTML, '', { error: 'upstream' }, { transaction: HASH }]) {
          assert.equal(mayStillRun(settle(body, status)), true, `${status} ${JSON.stringify(body)}`);
        }
        assert.equal(mayStillRun(settle({ ...FAILURE, errorReason: 'settlement_pending' }, status)), false);
        assert.equal(mayStillRun(settle({ ...SUCCESS, transaction: '' }, status)), false);
      }
      for (const status of [401, 403, 429]) {
        assert.equal(mayStillRun(settle({ status: 'pending' }, status)), true);
        assert.equal(mayStillRun(settle({ ...FAILURE, transaction: HASH }, status)), false);
      }
    });

    it("and reports why, with the facilitator's code", () => {
      const errorReason = 'invalid_exact_evm_nonce_already_used';
      assert.deepEqual(settle({ ...FAILURE, errorReason }), unknown(errorReason));
    });

    it('and quotes nothing longer than a code', () => {
      for (const errorReason of ['0xsecret args: nonce_already_used', 'secret!']) {
        const verdicts = [
          settle({ ...FAILURE, errorReason, errorMessage: 'secret' }),
          settle({ ...FAILURE, errorReason, transaction: HASH }),
          settle({ ...FAILURE, errorReason, secret: 1 }, 500),
        ];
        assert.doesNotMatch(JSON.stringify(verdicts), /secret/);
      }
    });
  });
});
