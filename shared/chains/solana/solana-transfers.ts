import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { OfferedSvmToken, SvmNetwork } from '../networks/networks.js';
import type { EndpointUnreadable } from '../rpc/throttled-endpoint.js';
import { associatedTokenAccount } from './associated-token-account.js';
import { MEMO_PROGRAM, TOKEN_PROGRAMS, TRANSFER_CHECKED } from './solana-programs.js';
import { throttleSolana } from './throttled-solana.js';

/**
 * Builds transactions for buyers' wallets to sign, in the form of the stock x402 client: compute unit limit and price,
 * TransferChecked, and a memo. The facilitator signs last, as the fee payer.
 */
export interface SolanaTransfers {
  /** Token balances of wallets, in the same order; undefined where the wallet has no account for the token. */
  readHoldings(
    network: SvmNetwork,
    holders: readonly Holder[],
  ): Promise<(bigint | undefined)[] | EndpointUnreadable>;
  /** Builds the unsigned transaction, in base64. */
  build(transfer: UnsignedTransfer): Promise<string | EndpointUnreadable>;
}

export interface Holder {
  wallet: string;
  token: OfferedSvmToken;
}

interface UnsignedTransfer {
  token: OfferedSvmToken;
  payer: string;
  payTo: string;
  feePayer: string;
  amount: bigint;
  /** Must differ between two payments, or they are one transaction. */
  memo: string;
}

/** The facilitators' limit, with room for the assertions that some wallets add. */
const COMPUTE_UNITS = 40_000;
const MICRO_LAMPORTS_PER_UNIT = 1;

export function createSolanaTransfers(rpcUrls: ReadonlyMap<string, string>): SolanaTransfers {
  const solana = throttleSolana(rpcUrls);
  return {
    readHoldings: (network, holders) =>
      solana.tokenBalances(
        network,
        holders.map(({ wallet, token }) => associatedTokenAccount(wallet, token)),
      ),
    async build(transfer) {
      const blockhash = await solana.latestBlockhash(transfer.token.network);
      return typeof blockhash === 'string' ? encode(transfer, blockhash) : blockhash;
    },
  };
}

function encode(transfer: UnsignedTransfer, recentBlockhash: string): string {
  const message = new TransactionMessage({
    payerKey: new PublicKey(transfer.feePayer),
    recentBlockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNITS }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: MICRO_LAMPORTS_PER_UNIT }),
      transferChecked(transfer),
      new TransactionInstruction({
        programId: new PublicKey(MEMO_PROGRAM),
        keys: [],
        data: Buffer.from(transfer.memo),
      }),
    ],
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  return Buffer.from(transaction.serialize()).toString('base64');
}

function transferChecked({ token, payer, payTo, amount }: UnsignedTransfer): TransactionInstruction {
  const data = Buffer.alloc(10);
  data.writeUInt8(TRANSFER_CHECKED, 0);
  data.writeBigUInt64LE(amount, 1);
  data.writeUInt8(token.decimals, 9);
  const account = (wallet: string): PublicKey => new PublicKey(associatedTokenAccount(wallet, token));
  return new TransactionInstruction({
    programId: TOKEN_PROGRAMS[token.program],
    keys: [
      { pubkey: account(payer), isSigner: false, isWritable: true },
      { pubkey: new PublicKey(token.address), isSigner: false, isWritable: false },
      { pubkey: account(payTo), isSigner: false, isWritable: true },
      { pubkey: new PublicKey(payer), isSigner: true, isWritable: false },
    ],
    data,
  });
}
