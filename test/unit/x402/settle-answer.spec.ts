import assert from 'node:assert/strict';
import { readSettleAnswer } from '../../../shared/x402/facilitator/facilitator-answers.js';
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

describe("reading a facilitator's answer to /settle", () => {
  describe('is settled', () => {
    it('on success with a transaction', () => {
      assert.deepEqual(settle(SUCCESS), { kind: 'settled', transaction: HASH, payer: PAYER });
    });

    for (const network of ['', null, undefined, 'base-sepolia', 84532, {}]) {
      it(`with the network ${JSON.stringify(network)}`, () => {
        assert.equal(settle({ ...SUCCESS, network }).kind, 'settled');
      });
    }

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

    it('with a signature of Solana that is padded', () => {
      const transaction = '5'.repeat(88);
      const padded = settle({ ...SUCCESS, transaction: ` ${transaction} ` });
      assert.deepEqual(padded, settle({ ...SUCCESS, transaction }));
    });

    it('with any text as the transaction', () => {
      for (const transaction of ['x', '5'.repeat(88), 'pending:1', '0x0']) {
        assert.equal(settle({ ...SUCCESS, transaction }).kind, 'settled');
      }
    });

    it('with unknown fields', () => {
      assert.equal(settle({ ...SUCCESS, amount: '1', extensions: {}, errorReason: null }).kind, 'settled');
    });

    for (const more of [
      { status: 'success' },
      { status: 'confirmed' },
      { errorReason: '' },
      { errorReason: ' ' },
    ]) {
      it(`beside ${JSON.stringify(more)}`, () => {
        assert.equal(settle({ ...SUCCESS, ...more }).kind, 'settled');
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

    for (const [title, changes] of Object.entries({
      'a transaction that is null': { transaction: null },
      'no transaction': { transaction: undefined },
      'an empty network': { network: '' },
      'no network': { network: undefined },
      'a network by its name of version 1': { network: 'base-sepolia' },
      'no payer': { payer: null },
    })) {
      it(`with ${title}`, () => assert.equal(settle({ ...FAILURE, ...changes }).kind, 'rejected'));
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
