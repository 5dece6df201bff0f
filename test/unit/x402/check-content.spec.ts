import assert from 'node:assert/strict';
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  advanceNonce,
  type EvmOverrides,
  LIGHTHOUSE_PROGRAM,
  memo,
  paymentInstructions,
  type SolanaOverrides,
  signEvmPayment,
  signSolanaPayment,
  tokenAccount,
  tokenProgram,
  transferChecked,
} from '../../../lab/world/shop/agent.js';
import { times } from '../../../shared/process/clock.js';
import { checkContent } from '../../../shared/x402/check-content.js';
import type { Failure } from '../../../shared/x402/failure-codes.js';
import { parsePayload } from '../../../shared/x402/parse-payload.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { ACCOUNT, BUYER, EVM, SVM as USDC } from './matching.js';
import { BASE_SEPOLIA, EVM_WALLET, entryFor, SOLANA_DEVNET, SOLANA_WALLET } from './offers.js';

const USDG = entryFor(SOLANA_DEVNET, 'USDG');
const NOW = new Date('2026-11-01T12:00:00.000Z');
const NOW_SECONDS = 1_793_534_400n;
const STRANGER = Keypair.generate().publicKey;

async function checkEvm(parts: EvmOverrides, now = NOW, own = now): Promise<Failure | undefined> {
  const window = { validAfter: NOW_SECONDS - 600n, validBefore: NOW_SECONDS + 300n };
  const payload = await signEvmPayment(EVM, { account: ACCOUNT, ...window, ...parts });
  const proof = parsePayload(BASE_SEPOLIA, { ...payload });
  assert.ok(proof);
  return checkContent(proof, EVM, { now, own });
}

function checkSvm(
  parts: SolanaOverrides,
  entry: PaymentRequirements = USDC,
  signedFor = entry,
): Failure | undefined {
  const payload = signSolanaPayment(signedFor, { payer: BUYER, ...parts });
  const proof = parsePayload(SOLANA_DEVNET, { ...payload });
  assert.ok(proof);
  return checkContent(proof, entry, times());
}

describe('checking an EVM authorization', () => {
  const codes = {
    recipient: 'invalid_exact_evm_payload_recipient_mismatch',
    value: 'invalid_exact_evm_payload_authorization_value',
    validAfter: 'invalid_exact_evm_payload_authorization_valid_after',
    validBefore: 'invalid_exact_evm_payload_authorization_valid_before',
  };

  it('leaves the time window to the facilitator while only one of two clocks contradicts it', async () => {
    const QUARTER_MS = 15 * 60_000;
    const [before, after] = [-QUARTER_MS, QUARTER_MS].map((ms) => new Date(NOW.getTime() + ms));
    for (const wrong of [before, after]) {
      assert.equal(await checkEvm({}, wrong, NOW), undefined);
      assert.equal(await checkEvm({}, NOW, wrong), undefined);
    }
    assert.equal((await checkEvm({}, before))?.code, codes.validAfter);
    assert.equal((await checkEvm({}, after))?.code, codes.validBefore);
  });

  it('accepts a correct one, with its recipient in any case', async () => {
    assert.equal(await checkEvm({}), undefined);
    assert.equal(await checkEvm({ to: EVM_WALLET.toLowerCase() }), undefined);
  });

  for (const [title, parts, code] of [
    ['another recipient', [{ to: ACCOUNT.address }], codes.recipient],
    ['less than the amount', [{ value: 99_999n }, { value: 0n }], codes.value],
    ['more than the amount', [{ value: 100_001n }, { value: 2n ** 256n - 1n }], codes.value],
    [
      'one that becomes valid later, to the second',
      [{ validAfter: NOW_SECONDS + 1n }, { validAfter: 2n ** 256n - 1n }],
      codes.validAfter,
    ],
    ['one that has ended', [{ validBefore: 0n }, { validBefore: NOW_SECONDS }], codes.validBefore],
  ] as const) {
    it(`refuses ${title}`, async () => {
      for (const part of parts) assert.equal((await checkEvm(part))?.code, code);
    });
  }

  it('accepts one that begins now, or that ends in a millisecond or in a million years', async () => {
    assert.equal(await checkEvm({ validAfter: NOW_SECONDS }), undefined);
    assert.equal(await checkEvm({ validBefore: NOW_SECONDS }, new Date(NOW.getTime() - 1)), undefined);
    assert.equal(await checkEvm({ validBefore: 2n ** 256n - 1n }), undefined);
  });

  it('leaves the signature to the facilitator', async () => {
    assert.equal(await checkEvm({ domain: { name: 'Another' } }), undefined);
  });

  it('tells the buyer what to change', async () => {
    assert.match((await checkEvm({ to: ACCOUNT.address }))?.message ?? '', /payTo/);
    assert.match((await checkEvm({ value: 1n }))?.message ?? '', /amount/);
  });
});

describe('checking a Solana transaction', () => {
  const code = 'invalid_payload';
  /** The merchant's account for USDC, derived with the program of that token. */
  const merchantsAccount = ({ asset }: PaymentRequirements): PublicKey =>
    tokenAccount(new PublicKey(SOLANA_WALLET), USDC.asset, tokenProgram(SOLANA_DEVNET, asset));

  for (const entry of [USDC, USDG]) {
    it(`accepts a correct one of ${entry.asset}`, () => {
      assert.equal(checkSvm({}, entry), undefined);
      assert.equal(checkSvm({ version: 'legacy' }, entry), undefined);
    });
  }

  describe('refuses', () => {
    const refusals: Record<string, [parts: SolanaOverrides, message: RegExp]> = {
      'another destination': [{ destination: STRANGER }, /another account/],
      "the merchant's wallet in place of its token account": [
        { destination: new PublicKey(SOLANA_WALLET) },
        new RegExp(merchantsAccount(USDC).toBase58()),
      ],
      "the merchant's account of the other token program": [
        { destination: merchantsAccount(USDG) },
        /another account/,
      ],
      'less than the amount': [{ amount: 99_999n }, /transfers 99999 /],
      'more than the amount': [{ amount: 100_001n }, /transfers 100001 /],
      'nothing at all': [{ amount: 0n }, /transfers 0 /],
      'a second transfer that makes it more': [
        { after: [transferChecked(USDC, BUYER.publicKey, { amount: 1n })] },
        /transfers 100001 /,
      ],
      'another mint': [{ mint: USDG.asset }, /nothing of `asset`/],
      'another mint into the right account': [
        { mint: USDG.asset, destination: merchantsAccount(USDC) },
        /nothing of `asset`/,
      ],
      'a transaction that transfers nothing': [{ instructions: [], signers: [] }, /nothing of `asset`/],
      'two transfers that only together are enough': [
        { amount: 50_000n, after: [transferChecked(USDC, BUYER.publicKey, { amount: 50_000n })] },
        /2 transfers/,
      ],
      'a durable nonce': [{ before: [advanceNonce(BUYER.publicKey)] }, /durable nonce/],
      'a durable nonce beside programs that cannot be read': [
        { before: [advanceNonce(BUYER.publicKey)], after: [strange()] },
        /durable nonce/,
      ],
    };
    for (const [title, [parts, message]] of Object.entries(refusals)) {
      it(title, () => {
        const failure = checkSvm(parts);
        assert.equal(failure?.code, code);
        assert.match(failure.message, message);
      });
    }

    it('a payment of the other token that is offered', () => {
      assert.equal(checkSvm({}, USDC, USDG)?.code, code);
      assert.equal(checkSvm({}, USDG, USDC)?.code, code);
    });
  });

  describe('leaves to the facilitator', () => {
    const stock = paymentInstructions(USDC, BUYER.publicKey);
    for (const [title, parts] of Object.entries<SolanaOverrides>({
      'no memo': { memo: null },
      'a long memo': { memo: 'm'.repeat(256) },
      'two memos': { after: [memo('one more')] },
      'Lighthouse instructions': { after: [lighthouse(), lighthouse()] },
      'Lighthouse instructions before the transfer': { before: [lighthouse()] },
      'the order of instructions': { instructions: [...stock].reverse() },
      'no compute budget': { instructions: stock.slice(2) },
      'another transfer beside the right one': {
        after: [transferChecked(USDC, BUYER.publicKey, { destination: STRANGER })],
      },
      'the fee payer': { feePayer: STRANGER },
      'a wrong transfer beside a program that it does not know': {
        destination: STRANGER,
        after: [strange()],
      },
      'nothing but a program that it does not know': { instructions: [strange()], signers: [] },
    })) {
      it(title, () => assert.equal(checkSvm(parts), undefined));
    }

    it('a token that is no longer in the table', () => {
      const gone = { ...USDC, asset: STRANGER.toBase58() };
      assert.equal(checkSvm({ destination: STRANGER }, gone, USDC), undefined);
    });
  });
});

function strange(): TransactionInstruction {
  return new TransactionInstruction({ programId: STRANGER, keys: [], data: Buffer.from([1]) });
}

function lighthouse(): TransactionInstruction {
  return new TransactionInstruction({ programId: LIGHTHOUSE_PROGRAM, keys: [], data: Buffer.from([1]) });
}
