import { VersionedTransaction } from '@solana/web3.js';
import { MEMO_PROGRAM } from '../../lab/world/shop/agent.js';
import type { Payment } from '../../shared/payments/model.js';
import type { EvmPayload, SvmPayload } from '../../shared/x402/wire.js';

/** The payment's text on its chain: the nonce, or the memo. */
export function referenceIn({ payload }: Pick<Payment, 'payload'>): string {
  const { authorization, transaction } = payload as Partial<EvmPayload & SvmPayload>;
  if (authorization !== undefined) return authorization.nonce;
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction ?? '', 'base64'));
  const memo = message.compiledInstructions.find(
    ({ programIdIndex }) => message.staticAccountKeys[programIdIndex]?.equals(MEMO_PROGRAM) === true,
  );
  return Buffer.from(memo?.data ?? []).toString();
}
