import { type Hex, pad } from 'viem';
import { CANCELED, TRANSFER, USED } from './authorization-proof.js';
import type { EvmLog, EvmRpc, FoundLog } from './evm-rpc.js';

/** A transaction in its block, as one of its logs names both. */
export type Landed = Pick<FoundLog, 'transactionHash' | 'blockNumber'> & { blockHash: Hex };

/** Throws `error`, the reason why the receipt is not read, where the log does not name its block. */
export function requireLanded({ transactionHash, blockNumber, blockHash }: FoundLog, error: unknown): Landed {
  if (blockHash === undefined) throw error;
  return { transactionHash, blockNumber, blockHash };
}

/**
 * The logs of a transaction that tell what a payer's authorizations did, from searches of its block. Its receipt has the logs of
 * all contracts: for a few cents anybody adds so many that it exceeds the bounds of an answer.
 */
export async function findPayerLogs(rpc: EvmRpc, asset: Hex, from: Hex, landed: Landed): Promise<EvmLog[]> {
  const topics = [[USED, CANCELED, TRANSFER], [pad(from)]];
  return ofTransaction(
    await rpc.findLogs({ address: asset, topics }, landed.blockNumber, landed.blockNumber),
    landed,
  );
}

/** All uses of authorizations in a transaction, of these tokens and of every payer. */
export async function findUses(rpc: EvmRpc, assets: readonly Hex[], landed: Landed): Promise<EvmLog[]> {
  const filter = { address: [...assets], topics: [[USED]] };
  return ofTransaction(await rpc.findLogs(filter, landed.blockNumber, landed.blockNumber), landed);
}

/** Between two searches a reorganisation may replace the block, and then the transaction may have other logs. */
function ofTransaction(logs: readonly FoundLog[], { transactionHash, blockHash }: Landed): EvmLog[] {
  return logs.filter((log) => log.transactionHash === transactionHash && log.blockHash === blockHash);
}
