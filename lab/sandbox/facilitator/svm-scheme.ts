import { createKeyPairSignerFromBytes, createSolanaRpc, devnet } from '@solana/kit';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import type { SvmNetwork } from '../../../shared/chains/networks/networks.js';
import { fromBase58, toBase58 } from '../../world/chains/base58.js';
import type { Dials } from '../dials/dials.js';
import { announceBroadcast } from './broadcasts.js';

const SIGNATURE_BYTES = 64;

/** `key` pays the fees. */
export async function createSvmScheme(
  network: SvmNetwork,
  url: string,
  { key, dials }: { key: string; dials: Dials },
): Promise<ExactSvmScheme> {
  const feePayer = await createKeyPairSignerFromBytes(fromBase58(key));
  // Keyed by network: the package takes a bare client for a table of networks.
  const stock = toFacilitatorSvmSigner(feePayer, { [network.caip2]: createSolanaRpc(devnet(url)) });
  return new ExactSvmScheme({
    ...stock,
    async sendTransaction(transaction, caip2) {
      const isLost = dials.settle === 'lose_transaction';
      const signature = isLost
        ? firstSignature(transaction)
        : await stock.sendTransaction(transaction, caip2);
      announceBroadcast();
      return signature;
    },
    async confirmTransaction(signature, caip2) {
      if (dials.settle === 'pending') throw notConfirmed('told not to wait');
      await within(dials.confirmWithinMs, stock.confirmTransaction(signature, caip2));
    },
  });
}

/** A serialized transaction starts with the number of signatures, then the fee payer's signature. */
function firstSignature(transaction: string): string {
  return toBase58(Buffer.from(transaction, 'base64').subarray(1, 1 + SIGNATURE_BYTES));
}

async function within(timeoutMs: number, task: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(notConfirmed('not confirmed in time')), timeoutMs);
  });
  try {
    await Promise.race([task, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The package prints the stack of errors it catches: one line is enough. */
function notConfirmed(message: string): Error {
  return Object.assign(new Error(message), { stack: message });
}
