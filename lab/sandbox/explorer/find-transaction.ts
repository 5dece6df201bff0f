import { erc20Abi, formatUnits, type Hex, parseEventLogs } from 'viem';
import { findToken } from '../../../shared/chains/networks/networks.js';
import type { Chains } from '../chains/chains.js';
import type { EvmChain } from '../evm/evm-chain.js';
import { SOLANA_DEVNET } from '../networks/networks.js';
import type { Cluster } from '../solana/cluster.js';
import type { TokenBalance } from '../solana/records.js';
import { secondsOf } from '../solana/slots.js';

/** A transaction as the sandbox's explorer shows it. */
export interface FoundTransaction {
  network: string;
  /** A block's number, or a slot. */
  block: bigint;
  time: Date;
  succeeded: boolean;
  transfers: Transfer[];
}

export interface Transfer {
  /** Amount with the token's symbol. */
  amount: string;
  from: string;
  to: string;
}

/** Undefined when no block of that network holds the transaction. */
export async function findTransaction(
  { evm, solana }: Chains,
  wanted: string,
  transaction: string,
): Promise<FoundTransaction | undefined> {
  if (wanted === SOLANA_DEVNET.environmentSuffix) return findOnSolana(solana, transaction);
  const chain = evm.find(({ network }) => network.environmentSuffix === wanted);
  return chain && /^0x[0-9a-f]{64}$/i.test(transaction)
    ? await findOnEvm(chain, transaction as Hex)
    : undefined;
}

async function findOnEvm({ network, client }: EvmChain, hash: Hex): Promise<FoundTransaction | undefined> {
  const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
  if (receipt === undefined) return undefined;
  const { timestamp } = await client.getBlock({ blockHash: receipt.blockHash });
  const transfers = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs });
  return {
    network: network.name,
    block: receipt.blockNumber,
    time: new Date(Number(timestamp) * 1000),
    succeeded: receipt.status === 'success',
    transfers: transfers.map(({ address, args: { from, to, value } }) => {
      return { amount: nameAmount(network.caip2, address, value), from, to };
    }),
  };
}

function findOnSolana({ ledger }: Cluster, signature: string): FoundTransaction | undefined {
  const landed = ledger.find(signature);
  if (landed === undefined) return undefined;
  const { slot, meta } = landed;
  const held = (balances: TokenBalance[], { accountIndex }: TokenBalance): bigint => {
    const balance = balances.find((other) => other.accountIndex === accountIndex);
    return BigInt((balance?.uiTokenAmount as { amount?: string } | undefined)?.amount ?? 0);
  };
  const changes = meta.postTokenBalances.map((account) => ({
    ...account,
    change: held(meta.postTokenBalances, account) - held(meta.preTokenBalances, account),
  }));
  const transfers = changes
    .filter(({ change }) => change > 0n)
    .map(({ mint, owner, change }) => ({
      amount: nameAmount(SOLANA_DEVNET.caip2, mint, change),
      from: changes.find((other) => other.mint === mint && other.change < 0n)?.owner ?? '',
      to: owner,
    }));
  return {
    network: SOLANA_DEVNET.name,
    block: BigInt(slot),
    time: new Date(secondsOf(slot) * 1000),
    succeeded: meta.err === null,
    transfers,
  };
}

function nameAmount(caip2: string, asset: string, value: bigint): string {
  const token = findToken(caip2, asset);
  return token === undefined
    ? `${value} of ${asset}`
    : `${formatUnits(value, token.decimals)} ${token.symbol}`;
}
