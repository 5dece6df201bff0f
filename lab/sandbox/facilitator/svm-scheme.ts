import { createKeyPairSignerFromBytes, createSolanaRpc, devnet } from '@solana/kit';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import type { SvmNetwork } from '../../../shared/chains/networks.js';
import { fromBase58, toBase58 } from '../solana/base58.js';
import { SOLANA_FACILITATOR_KEY } from '../wallets.js';
import { announceBroadcast } from './broadcasts.js';
import type { Dials } from './dials.js';

const SIGNATURE_BYTES = 64;

export async function createSvmScheme(
  network: SvmNetwork,
  url: string,
  dials: Dials,
): Promise<ExactSvmScheme> {
  const feePayer = await createKeyPairSignerFromBytes(fromBase58(SOLANA_FACILITATOR_KEY));
  // Named by its network: handed over bare, the package takes it for a table of networks.
  const stock = toFacilitatorSvmSigner(feePayer, { [network.caip2]: createSolanaRpc(devnet(url)) });
  return new ExactSvmScheme({
    ...stock,
    async sendTransaction(transaction, caip2) {
      const isLost = dials.settle === 'lose_transaction';
      const signature = isLost
        ? firstSignature(transaction)
        : await stock.sendTransaction(transaction, caip2);
      announceBroadcast(signature);
      return signature;
    },
    async confirmTransaction(signature, caip2) {
      if (dials.settle === 'pending') throw notConfirmed('told not to wait');
      await within(dials.confirmWithinMs, stock.confirmTransaction(signature, caip2));
    },
  });
}

/** A wire transaction begins with how many signatures there are, and then the fee payer's. */
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

/** The package prints what it catches: a line is enough of it. */
function notConfirmed(message: string): Error {
  return Object.assign(new Error(message), { stack: message });
}
