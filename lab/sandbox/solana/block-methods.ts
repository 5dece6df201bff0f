import type { MethodTable, RpcContext } from './rpc-context.js';
import { readOptions, readText } from './rpc-params.js';
import { BLOCKHASH_SLOTS, blockhashOf, isBlockhashValid, newestSlot, secondsOf } from './slots.js';

/** Devnet's, because the sandbox's cluster uses devnet's name. */
const GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const LAMPORTS_PER_SIGNATURE = 5000;

export function createBlockMethods(context: RpcContext): MethodTable {
  const newest = (): number => newestSlot('processed', context.delays);
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': '3.0.0', 'feature-set': 0 }),
    getGenesisHash: () => GENESIS_HASH,
    getSlot: ([options]) => context.slotOf(readOptions(options)),
    getBlockHeight: ([options]) => context.slotOf(readOptions(options)),
    getBlockTime: ([slot]) => (typeof slot === 'number' && slot <= newest() ? secondsOf(slot) : null),
    getLatestBlockhash([given]) {
      const options = readOptions(given);
      const slot = context.slotOf(options);
      const value = { blockhash: blockhashOf(slot), lastValidBlockHeight: slot + BLOCKHASH_SLOTS };
      return context.wrap(options, value);
    },
    isBlockhashValid([blockhash, given]) {
      const options = readOptions(given);
      return context.wrap(options, isBlockhashValid(readText(blockhash), context.slotOf(options)));
    },
    // The second byte of a version 0 message is its number of signatures.
    getFeeForMessage: ([message]) =>
      context.wrap({}, LAMPORTS_PER_SIGNATURE * (Buffer.from(readText(message), 'base64')[1] ?? 1)),
    getRecentPrioritizationFees: () => [{ slot: newest(), prioritizationFee: 0 }],
  };
}
