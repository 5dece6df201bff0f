import assert from 'node:assert/strict';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { signSolanaPayment } from '../../../lab/world/shop/agent.js';
import { checkContent } from '../../../shared/x402/check-content.js';
import { decodePaymentHeader, encodeHeader } from '../../../shared/x402/headers.js';
import { matchPayment } from '../../../shared/x402/match-payment.js';
import { type PaymentProof, payer } from '../../../shared/x402/payload.js';
import { recoversToPayer } from '../../../shared/x402/recovers-to-payer.js';
import { buildAccepts } from '../../../shared/x402/requirements.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from './offers.js';

/**
 * Recorded payments of stock clients (@x402/fetch 2.27, x402 1.2) for the offer below. Those of @x402/fetch pay by themselves
 * in test/flows/sandbox/sandbox-payments.spec.ts.
 */
const NOW = new Date('2026-11-21T05:10:00.000Z');
const SOLANA_PAYER = Keypair.fromSeed(new Uint8Array(32).fill(7));
const FEE_PAYER = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4';
const BLOCKHASH = 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N';

const SUPPORTED = new Map([
  [BASE_SEPOLIA, []],
  [SOLANA_DEVNET, [FEE_PAYER]],
]);
const ACCEPTS = buildAccepts({
  livemode: false,
  wallets: {
    evm: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    solana: '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g',
  },
  amountCents: 10,
  supported: SUPPORTED,
});
const [USDC_BASE, USDC_SOLANA] = ACCEPTS;

const V1_PAYLOAD = {
  signature:
    '0x3ee32c2cff750cebc415924dc0f09b1d005786ca3383a8f8dafd70b58515db4274c19e8dfc3f2c62728bf836e3006bebf40c52fce750244ab21ab140348653811c',
  authorization: {
    from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    to: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    value: '100000',
    validAfter: '1795236967',
    validBefore: '1795237867',
    nonce: '0xf26be06b3d47f9d31f420c6df58eb9cac08846caa3d0f06bd49efb6232ec43b8',
  },
};

const USDC_TRANSACTION =
  'AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACG8KC4BGIhrhZUrhs8chKJa740GGX0NER+3SbhDxZGYiI6tA+hKRbzUEAnZMpDEQ4HoksHm2zd3Kck2fZcdzgNgAIBBAgcxm7UN1ERWkK1kFEyxPZoMoYR5ejet9hiWF0qNVHQAepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIsa4T+VAWZkKbqIwjcZYhVrZWKZR4UVyYj9/rTk9uwE+z5A7esu15zF0gAWLyIxyYJgeTTe6h2YMSqRlJlJaizbjtELLORIVfxOpM9ATQoLQMrX/7NAaLb8bd5BgjfAC6nAwZGb+UhFzL/7K26csOb57yM5bvF9xJrLEObOkAAAAAFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpzEkOkozS44c7s0P8ldozF5ymD02/RsLDbpEpnVXU5rkEBQAFAiBOAAAFAAkDAQAAAAAAAAAHBAIEAwEKDKCGAQAAAAAABgYAIDhjMTEyMzliNjJlNDI5NDQ0NzljOGNmM2FkYjVhMzQwAA==';

async function accept(value: object): Promise<{ requirements: PaymentRequirements; proof: PaymentProof }> {
  const header = decodePaymentHeader(encodeHeader(value));
  assert.ok(header.kind !== 'malformed');
  const result = await matchPayment(header, { accepts: ACCEPTS, supported: SUPPORTED, offeredFeePayers: [] });
  assert.ok(result.ok);
  assert.equal(checkContent(result.proof, result.requirements, { now: NOW, own: NOW }), undefined);
  return result;
}

describe("a stock client's payment", () => {
  it('of version 1 is accepted', async () => {
    const value = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload: V1_PAYLOAD };
    const { requirements, proof } = await accept(value);
    assert.equal(requirements, USDC_BASE);
    assert.equal(proof.family === 'evm' && (await recoversToPayer(proof, requirements)), true);
  });

  it('in USDC on Solana has the instructions that our own agent writes', async () => {
    assert.ok(USDC_SOLANA);
    const transaction = USDC_TRANSACTION;
    const { proof } = await accept({ x402Version: 2, payload: { transaction }, accepted: USDC_SOLANA });
    assert.equal(payer(proof), SOLANA_PAYER.publicKey.toBase58());
    assert.ok(proof.family === 'svm' && proof.isReadable && proof.blockhash === BLOCKHASH);
    const memo = Buffer.from(instructionsOf(transaction).at(-1)?.data ?? '', 'hex').toString();
    const ours = signSolanaPayment(USDC_SOLANA, { payer: SOLANA_PAYER, blockhash: BLOCKHASH, memo });
    assert.deepEqual(instructionsOf(ours.transaction), instructionsOf(transaction));
  });
});

interface ReadInstruction {
  program: string | undefined;
  accounts: (string | undefined)[];
  data: string;
}

function instructionsOf(transaction: string): ReadInstruction[] {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    program: keys[programIdIndex],
    accounts: accountKeyIndexes.map((index) => keys[index]),
    data: Buffer.from(data).toString('hex'),
  }));
}
