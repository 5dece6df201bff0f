import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { type MessageCompiledInstruction, PublicKey, VersionedTransaction } from '@solana/web3.js';
import type { FacilitatorRequest, SvmPayload } from '../../../shared/x402/wire.js';
import { toBase58 } from '../chains/base58.js';
import { LIGHTHOUSE_PROGRAM, MEMO_PROGRAM, tokenAccount, tokenProgram } from '../shop/agent.js';
import { type Judgement, judge, type Movement, type RuleOptions } from './judgement.js';

const OPTIONAL_PROGRAMS = [MEMO_PROGRAM.toBase58(), LIGHTHOUSE_PROGRAM.toBase58()];
/** The SPKI prefix of a 32-byte Ed25519 public key. */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export function judgeTransaction(
  { paymentPayload, paymentRequirements }: FacilitatorRequest,
  { strict, feePayers }: RuleOptions,
  isUsed: () => boolean,
): Judgement {
  const transaction = decode(paymentPayload.payload as SvmPayload);
  if (transaction === undefined) {
    return { reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded', payer: '' };
  }
  const { network, asset, payTo, amount, extra } = paymentRequirements;
  const { compiledInstructions, staticAccountKeys } = transaction.message;
  const accounts = staticAccountKeys.map((key) => key.toBase58());
  const programs = compiledInstructions.map(({ programIdIndex }) => accounts[programIdIndex] ?? '');
  const program = tokenProgram(network, asset);
  const destination = tokenAccount(new PublicKey(payTo), asset, program).toBase58();
  const feePayer = 'feePayer' in extra ? extra.feePayer : '';
  const transfer = readTransfer(transaction);
  return judge(
    [
      ['invalid_exact_svm_network_mismatch', paymentPayload.accepted.network === network],
      ['invalid_exact_svm_payload_missing_fee_payer', feePayer !== ''],
      ['invalid_exact_svm_fee_payer_not_managed_by_facilitator', feePayers.includes(feePayer)],
      ['invalid_exact_svm_fee_payer_mismatch', accounts[0] === feePayer],
      [
        'invalid_exact_svm_payload_transaction_instructions_length',
        programs.length >= 3 && programs.length <= 7,
      ],
      ['invalid_exact_svm_payload_no_transfer_instruction', programs[2] === program.toBase58()],
      [
        'invalid_exact_svm_payload_unknown_optional_instruction',
        programs.slice(3).every((name) => OPTIONAL_PROGRAMS.includes(name)),
      ],
      ['invalid_exact_svm_payload_mint_mismatch', transfer?.mint === asset],
      ['invalid_exact_svm_payload_recipient_mismatch', transfer?.destination === destination],
      ['invalid_exact_svm_payload_amount_mismatch', transfer?.amount === BigInt(amount)],
      ['invalid_exact_svm_payload_signature_invalid', !strict || isSignedByAllButFeePayer(transaction)],
      ['invalid_exact_svm_transaction_simulation_failed', !isUsed()],
    ],
    transfer?.authority ?? '',
  );
}

export function readTransaction({
  paymentPayload,
}: FacilitatorRequest): Omit<Movement, 'network' | 'asset' | 'to'> {
  const transaction = decode(paymentPayload.payload as SvmPayload);
  const transfer = transaction && readTransfer(transaction);
  const message = transaction?.message.serialize();
  return {
    from: transfer?.authority ?? '',
    amount: transfer?.amount ?? 0n,
    transaction: toBase58(randomBytes(64)),
    paymentId: message === undefined ? '' : createHash('sha256').update(message).digest('hex'),
  };
}

function decode({ transaction }: SvmPayload): VersionedTransaction | undefined {
  try {
    return VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  } catch {
    return undefined;
  }
}

interface Transfer {
  mint: string | undefined;
  destination: string | undefined;
  authority: string | undefined;
  amount: bigint;
}

function readTransfer({ message }: VersionedTransaction): Transfer | undefined {
  const isTransfer = ({ data }: MessageCompiledInstruction): boolean => data[0] === 12 && data.length === 10;
  const instruction = message.compiledInstructions.find(isTransfer);
  if (instruction === undefined) return undefined;
  const [, mint, destination, authority] = instruction.accountKeyIndexes.map((index) =>
    message.staticAccountKeys[index]?.toBase58(),
  );
  return { mint, destination, authority, amount: Buffer.from(instruction.data).readBigUInt64LE(1) };
}

/** The fee payer signs last, although its signature comes first. */
function isSignedByAllButFeePayer({ message, signatures }: VersionedTransaction): boolean {
  const bytes = message.serialize();
  const signers = message.staticAccountKeys.slice(1, signatures.length);
  return signers.every((signer, index) => {
    const key = Buffer.concat([ED25519_PREFIX, signer.toBytes()]);
    const signature = signatures[index + 1] ?? Buffer.alloc(64);
    return verify(null, bytes, createPublicKey({ key, format: 'der', type: 'spki' }), signature);
  });
}
