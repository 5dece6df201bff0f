import { findToken } from '../chains/networks/networks.js';
import { associatedTokenAccount } from '../chains/solana/associated-token-account.js';
import { describeFailure, type Failure } from './failure-codes.js';
import type { EvmAuthorization, PaymentProof } from './payload.js';
import type { SvmTransfer } from './svm-transaction.js';
import type { PaymentRequirements } from './wire.js';

/** Postgres' clock and this machine's. */
interface Times {
  now: Date;
  own: Date;
}

/**
 * Refuses, before any outside call, a payment that contradicts the entry it pays: another amount, to another wallet, in
 * another token, outside its time window. The facilitator decides all else: unreadable contents, how soon the payment may
 * end. So it does when our two clocks do not both say that the payment is outside its time window.
 */
export function checkContent(
  proof: PaymentProof,
  requirements: PaymentRequirements,
  times: Times,
): Failure | undefined {
  return proof.family === 'evm'
    ? checkAuthorization(proof, requirements, times)
    : checkTransfer(proof, requirements);
}

function checkAuthorization(
  authorization: EvmAuthorization,
  requirements: PaymentRequirements,
  { now, own }: Times,
): Failure | undefined {
  const both = [now.getTime(), own.getTime()];
  const [earlierMs, laterMs] = [BigInt(Math.min(...both)), BigInt(Math.max(...both))];
  if (authorization.to.toLowerCase() !== requirements.payTo.toLowerCase()) {
    return describeFailure('invalid_exact_evm_payload_recipient_mismatch');
  }
  if (authorization.value !== BigInt(requirements.amount)) {
    return describeFailure('invalid_exact_evm_payload_authorization_value');
  }
  if (authorization.validAfter * 1000n > laterMs) {
    return describeFailure('invalid_exact_evm_payload_authorization_valid_after');
  }
  if (authorization.validBefore * 1000n <= earlierMs) {
    return describeFailure('invalid_exact_evm_payload_authorization_valid_before');
  }
  return undefined;
}

/** The specification has no codes for these contradictions. */
function checkTransfer(transfer: SvmTransfer, requirements: PaymentRequirements): Failure | undefined {
  if (transfer.usesDurableNonce) {
    return contradiction(
      'The transaction uses a durable nonce and never expires. Sign with a recent blockhash.',
    );
  }
  const token = findToken(requirements.network, requirements.asset);
  if (token?.family !== 'svm' || !transfer.isReadable) return undefined;

  const inToken = transfer.transfers.filter(({ mint }) => mint === requirements.asset);
  if (inToken.length === 0) {
    return contradiction(
      'The transaction transfers nothing of `asset`. Sign a TransferChecked of that mint.',
    );
  }
  const account = associatedTokenAccount(requirements.payTo, token);
  const toMerchant = inToken.filter(({ destination }) => destination === account);
  if (toMerchant.length === 0) {
    return contradiction(
      `The transaction pays another account. Sign a transfer to ${account}, where \`payTo\` holds \`asset\`.`,
    );
  }
  const sum = toMerchant.reduce((total, { amount }) => total + amount, 0n);
  const said = toMerchant.length === 1 ? '' : ` in ${toMerchant.length} transfers`;
  return sum === BigInt(requirements.amount) && toMerchant.some(({ amount }) => amount === sum)
    ? undefined
    : contradiction(
        `The transaction transfers ${sum} of \`asset\`${said}. Sign one transfer of exactly the \`amount\` of the chosen entry.`,
      );
}

function contradiction(message: string): Failure {
  return { ...describeFailure('invalid_payload'), message };
}
