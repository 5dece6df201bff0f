import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { SignJWT } from 'jose';
import type { FacilitatorOptions } from '../../../lab/world/facilitator/facilitator.js';
import type { Movement } from '../../../lab/world/facilitator/judgement.js';
import type { EvmOverrides, SolanaOverrides } from '../../../lab/world/shop/agent.js';
import { advanceClock, now, resetClock } from '../../../shared/process/clock.js';
import { readSettleAnswer } from '../../../shared/x402/facilitator/facilitator-answers.js';
import { parseSupported } from '../../../shared/x402/requirements.js';
import { caller, facilitator, start } from './facilitator-caller.js';
import { ACCOUNT, BUYER } from './matching.js';
import { BASE_SEPOLIA, EVM_WALLET, SOLANA_DEVNET } from './offers.js';

const AUTHORIZATION = 'invalid_exact_evm_payload_authorization';

async function restart(options: FacilitatorOptions): Promise<void> {
  await facilitator.close();
  await start(options);
}

describe('the fake facilitator', () => {
  beforeEach(async () => {
    await start({ strict: true });
  });

  afterEach(async () => {
    resetClock();
    await facilitator.close();
  });

  describe('without faults', () => {
    it('verifies and settles EVM payments, and records the transfers', async () => {
      const request = await caller.evmRequest();
      assert.equal(await caller.verify(request), 'valid');
      assert.equal(facilitator.ledger.length, 0);
      const verdict = readSettleAnswer(await caller.post('/settle', request), BASE_SEPOLIA);
      assert.equal(verdict.kind, 'settled');
      const { asset, payTo } = request.paymentRequirements;
      const { transaction } = verdict;
      const moved = { network: BASE_SEPOLIA, asset, from: ACCOUNT.address, to: payTo, amount: 100_000n };
      const [{ paymentId, ...movement }] = facilitator.ledger as [Movement];
      assert.deepEqual([facilitator.ledger.length, movement], [1, { ...moved, transaction }]);
      assert.equal(typeof paymentId, 'string');
      assert.match(transaction, /^0x[0-9a-f]{64}$/);
    });

    it('verifies and settles Solana payments, with a transaction of 64 bytes', async () => {
      const request = await caller.svmRequest();
      assert.equal(await caller.verify(request), 'valid');
      const verdict = readSettleAnswer(await caller.post('/settle', request), SOLANA_DEVNET);
      assert.equal(verdict.kind, 'settled');
      assert.match(verdict.transaction, /^[1-9A-HJ-NP-Za-km-z]{80,88}$/);
      assert.equal(facilitator.ledger[0]?.from, BUYER.publicKey.toBase58());
      assert.equal(facilitator.ledger[0]?.amount, 100_000n);
    });

    it('reports each transfer before it answers', async () => {
      const seen: Movement[] = [];
      await restart({ onSettled: (movement) => void seen.push(movement) });
      assert.equal(await caller.settle(await caller.evmRequest()), 'settled');
      assert.deepEqual(seen, facilitator.ledger);
    });

    it('lists the configured kinds', async () => {
      await restart({ networks: [SOLANA_DEVNET], feePayers: [BUYER.publicKey.toBase58()] });
      const supported = parseSupported(await caller.get('/supported'));
      assert.deepEqual([...(supported ?? [])], [[SOLANA_DEVNET, [BUYER.publicKey.toBase58()]]]);
    });

    it('refuses a network that it does not support', async () => {
      const request = await caller.evmRequest();
      await restart({ networks: [SOLANA_DEVNET] });
      assert.equal(await caller.verify(request), 'invalid_network');
    });

    describe('refuses', () => {
      const evm: Record<string, [parts: EvmOverrides, reason: string]> = {
        'another signer': [{ from: EVM_WALLET }, 'invalid_exact_evm_signature'],
        'another domain': [{ domain: { name: 'Another' } }, 'invalid_exact_evm_signature'],
        'another recipient': [{ to: ACCOUNT.address }, 'invalid_exact_evm_recipient_mismatch'],
        'less than the amount': [{ value: 99_999n }, `${AUTHORIZATION}_value_mismatch`],
        'more than the amount': [{ value: 100_001n }, `${AUTHORIZATION}_value_mismatch`],
        'an authorization that has ended': [{ validBefore: 1n }, `${AUTHORIZATION}_valid_before`],
        'an authorization that begins later': [{ validAfter: 2n ** 40n }, `${AUTHORIZATION}_valid_after`],
      };
      for (const [title, [parts, reason]] of Object.entries(evm)) {
        it(title, async () => {
          assert.equal(await caller.verify(await caller.evmRequest(parts)), reason);
          assert.equal(await caller.settle(await caller.evmRequest(parts)), reason);
          assert.deepEqual(facilitator.ledger, []);
        });
      }

      const stranger = Keypair.generate().publicKey;
      const svm: Record<string, [parts: SolanaOverrides, reason: string]> = {
        'less on Solana': [{ amount: 1n }, 'invalid_exact_svm_payload_amount_mismatch'],
        'another account': [{ destination: stranger }, 'invalid_exact_svm_payload_recipient_mismatch'],
        'another mint': [{ mint: stranger.toBase58() }, 'invalid_exact_svm_payload_mint_mismatch'],
        'another fee payer': [{ feePayer: stranger }, 'invalid_exact_svm_fee_payer_mismatch'],
        'a transaction that is not signed': [{ signers: [] }, 'invalid_exact_svm_payload_signature_invalid'],
        'a transaction without instructions': [
          { instructions: [], signers: [] },
          'invalid_exact_svm_payload_transaction_instructions_length',
        ],
      };
      for (const [title, [parts, reason]] of Object.entries(svm)) {
        it(title, async () => assert.equal(await caller.verify(await caller.svmRequest(parts)), reason));
      }

      it('an authorization that ends in less than six seconds, by our clock', async () => {
        const request = await caller.evmRequest();
        advanceClock(293_000);
        assert.equal(await caller.verify(request), 'valid');
        advanceClock(3_000);
        assert.equal(await caller.verify(request), `${AUTHORIZATION}_valid_before`);
      });

      it('a payload without the fields of its family', async () => {
        const request = await caller.evmRequest();
        const paymentPayload = { ...request.paymentPayload, payload: {} };
        assert.equal(await caller.verify({ ...request, paymentPayload }), 'unexpected_verify_error');
      });
    });

    it('checks signatures in strict mode only', async () => {
      await restart({});
      assert.equal(await caller.verify(await caller.evmRequest({ from: EVM_WALLET })), 'valid');
      assert.equal(await caller.verify(await caller.svmRequest({ signers: [] })), 'valid');
    });

    it('moves the money of a payment once', async () => {
      const request = await caller.evmRequest();
      assert.equal(await caller.settle(request), 'settled');
      assert.equal(await caller.settle(request), 'unknown: invalid_exact_evm_nonce_already_used');
      assert.equal(await caller.verify(request), 'invalid_exact_evm_nonce_already_used');
      assert.equal(facilitator.ledger.length, 1);
    });

    it('moves the money of a Solana payment once', async () => {
      const request = await caller.svmRequest();
      const settled = await caller.post('/settle', request);
      assert.equal(readSettleAnswer(settled, SOLANA_DEVNET).kind, 'settled');
      const again = readSettleAnswer(await caller.post('/settle', request), SOLANA_DEVNET);
      assert.equal(again.kind === 'unknown' && again.why, 'duplicate_settlement');
      assert.equal(await caller.verify(request), 'invalid_exact_svm_transaction_simulation_failed');
      assert.equal(facilitator.ledger.length, 1);
    });

    it('moves the money once for many concurrent calls', async () => {
      const request = await caller.evmRequest();
      const verdicts = await Promise.all(Array.from({ length: 10 }, () => caller.settle(request)));
      assert.equal(verdicts.filter((verdict) => verdict === 'settled').length, 1);
      assert.equal(facilitator.ledger.length, 1);
    });
  });

  describe('validates requests', () => {
    for (const [title, change, reason] of [
      ['another version', { x402Version: 1 }, 'invalid_x402_version'],
      ['no payload', { paymentPayload: undefined }, 'invalid_payload'],
      ['no fields', { paymentPayload: { x402Version: 2, accepted: {}, payload: null } }, 'invalid_payload'],
      ['half an entry', { paymentRequirements: { scheme: 'exact' } }, 'invalid_payment_requirements'],
    ] as const) {
      it(`${title}: 400 ${reason}`, async () => {
        const request = { ...(await caller.evmRequest()), ...change };
        assert.deepEqual(await caller.post('/verify', request), {
          status: 400,
          body: JSON.stringify({ isValid: false, invalidReason: reason }),
        });
        assert.equal(await caller.settle(request), reason);
      });
    }

    for (const body of ['', 'x', '{', 'null', '[]']) {
      it(`${JSON.stringify(body)}: 400 invalid_payload`, async () => {
        assert.equal(await caller.verify(body), 'invalid_payload');
      });
    }
  });

  describe('with authentication', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const keyId = 'fk_1';

    async function token(
      claims: { kid?: string; exp?: number; iss?: string; key?: KeyObject } = {},
    ): Promise<string> {
      const seconds = Math.floor(now().getTime() / 1000);
      return await new SignJWT()
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: claims.kid ?? keyId })
        .setSubject(keyId)
        .setIssuer(claims.iss ?? 'svc-merchant')
        .setIssuedAt(seconds)
        .setExpirationTime(claims.exp ?? seconds + 120)
        .setJti('1')
        .sign(claims.key ?? privateKey);
    }

    async function statusWith(authorization: string | undefined, body: unknown): Promise<number> {
      const reply = await caller.post('/verify', body, authorization === undefined ? {} : { authorization });
      assert.ok('status' in reply);
      return reply.status;
    }

    beforeEach(() => restart({ tokens: { keyId, publicKey } }));

    it('accepts a valid token', async () => {
      assert.equal(await statusWith(`Bearer ${await token()}`, await caller.evmRequest()), 200);
    });

    it('answers 401 without one, with a bad one and with an expired one', async () => {
      const request = await caller.evmRequest();
      const stranger = generateKeyPairSync('ed25519').privateKey;
      for (const authorization of [
        undefined,
        'Bearer x',
        await token(),
        `Bearer ${await token({ kid: 'fk_2' })}`,
        `Bearer ${await token({ exp: 1 })}`,
        `Bearer ${await token({ iss: 'someone' })}`,
        `Bearer ${await token({ key: stranger })}`,
      ]) {
        assert.equal(await statusWith(authorization, request), 401);
      }
      assert.equal(await caller.settle(request), 'not_processed: HTTP 401');
    });

    it('validates the body before the token', async () => {
      assert.equal(await statusWith(undefined, {}), 400);
      assert.equal(await caller.settle({}), 'invalid_payload');
    });

    it('requires a token on /supported only where it is told to', async () => {
      assert.ok(parseSupported(await caller.get('/supported')));
      await restart({ tokens: { keyId, publicKey, onSupportedToo: true } });
      assert.deepEqual(await caller.get('/supported'), { error: 'unauthorized' });
      const headers = { authorization: `Bearer ${await token()}` };
      assert.equal((await fetch(`${facilitator.url}/supported`, { headers })).status, 200);
    });
  });
});
