import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Hex, LocalAccount } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { findToken } from '../../../shared/chains/networks/networks.js';
import { nowMs } from '../../../shared/process/clock.js';
import type {
  EvmExtra,
  EvmPayload,
  PaymentRequirements,
  SvmExtra,
  SvmPayload,
} from '../../../shared/x402/wire.js';

/** A buyer that signs real payments in the format of the stock x402 clients. Overrides make any part wrong. */
export interface EvmOverrides {
  from?: Hex;
  to?: string;
  value?: bigint;
  validAfter?: bigint;
  validBefore?: bigint;
  nonce?: Hex;
  domain?: Partial<EvmExtra & { chainId: number; verifyingContract: string }>;
}

export interface SolanaOverrides {
  feePayer?: PublicKey;
  mint?: string;
  amount?: bigint;
  destination?: PublicKey;
  /** The memo in place of the offer's, or of one by chance where the offer asks for none. Null leaves the memo out. */
  memo?: string | null;
  blockhash?: string;
  version?: 0 | 'legacy';
  /** Replaces the compute budget and transfer instructions. */
  instructions?: TransactionInstruction[];
  /** Instructions before and after the stock client's. */
  before?: TransactionInstruction[];
  after?: TransactionInstruction[];
  lookupTables?: AddressLookupTableAccount[];
  signers?: Keypair[];
}

const TOKEN_PROGRAMS = {
  'spl-token': new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  'token-2022': new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
};
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
export const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
export const LIGHTHOUSE_PROGRAM = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export async function signEvmPayment(
  requirements: PaymentRequirements,
  { account, domain = {}, ...parts }: EvmOverrides & { account: LocalAccount },
): Promise<EvmPayload> {
  const message = {
    from: account.address,
    to: hex(requirements.payTo),
    value: BigInt(requirements.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(nowMs() / 1000) + requirements.maxTimeoutSeconds),
    nonce: generatePrivateKey(),
    ...parts,
  };
  const { verifyingContract = requirements.asset, ...named } = domain;
  const signature = await account.signTypedData({
    domain: {
      ...('name' in requirements.extra ? requirements.extra : {}),
      chainId: Number(requirements.network.split(':')[1]),
      verifyingContract: hex(verifyingContract),
      ...named,
    },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { ...message, to: hex(message.to) },
  });
  return {
    signature,
    authorization: {
      from: message.from,
      to: message.to,
      value: message.value.toString(),
      validAfter: message.validAfter.toString(),
      validBefore: message.validBefore.toString(),
      nonce: message.nonce,
    },
  };
}

/** A version 0 transaction: compute unit limit and price, TransferChecked, memo. The fee payer has not signed it. */
export function signSolanaPayment(
  requirements: PaymentRequirements,
  { payer, ...parts }: SolanaOverrides & { payer: Keypair },
): SvmPayload {
  const offered: Partial<SvmExtra> = 'feePayer' in requirements.extra ? requirements.extra : {};
  const { memo: text = offered.memo ?? Keypair.generate().publicKey.toBase58() } = parts;
  const message = new TransactionMessage({
    payerKey: parts.feePayer ?? new PublicKey(offered.feePayer ?? PublicKey.default),
    recentBlockhash: parts.blockhash ?? Keypair.generate().publicKey.toBase58(),
    instructions: [
      ...(parts.before ?? []),
      ...(parts.instructions ?? paymentInstructions(requirements, payer.publicKey, parts)),
      ...(parts.after ?? []),
      ...(text === null ? [] : [memo(text)]),
    ],
  });
  const compiled =
    parts.version === 'legacy'
      ? message.compileToLegacyMessage()
      : message.compileToV0Message(parts.lookupTables);
  const transaction = new VersionedTransaction(compiled);
  transaction.sign(parts.signers ?? [payer]);
  return { transaction: Buffer.from(transaction.serialize()).toString('base64') };
}

export function paymentInstructions(
  requirements: PaymentRequirements,
  payer: PublicKey,
  parts: Pick<SolanaOverrides, 'mint' | 'amount' | 'destination'> = {},
): TransactionInstruction[] {
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
    transferChecked(requirements, payer, parts),
  ];
}

export function transferChecked(
  requirements: PaymentRequirements,
  payer: PublicKey,
  parts: Pick<SolanaOverrides, 'mint' | 'amount' | 'destination'> = {},
): TransactionInstruction {
  const mint = parts.mint ?? requirements.asset;
  const program = tokenProgram(requirements.network, mint);
  const data = Buffer.alloc(10);
  data.writeUInt8(12, 0);
  data.writeBigUInt64LE(parts.amount ?? BigInt(requirements.amount), 1);
  data.writeUInt8(6, 9);
  const destination = parts.destination ?? tokenAccount(new PublicKey(requirements.payTo), mint, program);
  return new TransactionInstruction({
    programId: program,
    keys: [
      { pubkey: tokenAccount(payer, mint, program), isSigner: false, isWritable: true },
      { pubkey: new PublicKey(mint), isSigner: false, isWritable: false },
      { pubkey: destination, isSigner: false, isWritable: true },
      { pubkey: payer, isSigner: true, isWritable: false },
    ],
    data,
  });
}

export function memo(text: string): TransactionInstruction {
  return new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(text) });
}

/** The first instruction of a transaction that uses a durable nonce. */
export function advanceNonce(authorizedPubkey: PublicKey): TransactionInstruction {
  return SystemProgram.nonceAdvance({ noncePubkey: Keypair.generate().publicKey, authorizedPubkey });
}

export function tokenProgram(network: string, mint: string): PublicKey {
  const token = findToken(network, mint);
  return TOKEN_PROGRAMS[token?.family === 'svm' ? token.program : 'spl-token'];
}

export function tokenAccount(owner: PublicKey, mint: string, program: PublicKey): PublicKey {
  const seeds = [owner.toBytes(), program.toBytes(), new PublicKey(mint).toBytes()];
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM)[0];
}

/** The PAYMENT-SIGNATURE header. `parts` add to its fields, or replace them. */
export function paymentHeader(accepted: PaymentRequirements, payload: object, parts: object = {}): string {
  return encode({ x402Version: 2, accepted, payload, ...parts });
}

/** A version 1 client's X-PAYMENT header, which names no token. */
export function v1PaymentHeader(network: string, payload: object, parts: object = {}): string {
  return encode({ x402Version: 1, scheme: 'exact', network, payload, ...parts });
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

function hex(text: string): Hex {
  return `0x${text.slice(2)}`;
}
