import { EvmChain } from '../../world/chains/evm-chain.js';
import { SolanaChain } from '../../world/chains/solana-chain.js';
import type { Movement } from '../../world/facilitator/judgement.js';
import type { Parts } from '../../world/program/parts.js';

export const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

/** The chains of a run, which make blocks by the clock. */
interface RunningChains {
  /** The settings with their endpoints. */
  environment: Record<string, string>;
  /** Lands a facilitator's movement; `signedTransaction` is what the buyer has signed on Solana. */
  move(movement: Movement, signedTransaction: string): void;
  /** The newest blockhash of Solana. */
  issueBlockhash(): string;
}

const BLOCK_MS = 1000;
const SLOT_MS = 400;

export async function startChains(
  ids: readonly number[],
  withSolana: boolean,
  parts: Parts,
): Promise<RunningChains> {
  const chains = new Map<string, EvmChain>();
  for (const id of ids) {
    const chain = await EvmChain.start(id);
    repeat(() => chain.mine(), BLOCK_MS, chain, parts);
    chains.set(`eip155:${id}`, chain);
  }
  const solana = withSolana ? await SolanaChain.start(SOLANA) : undefined;
  if (solana !== undefined) repeat(() => solana.pass(1), SLOT_MS, solana, parts);
  const urls = [...chains].map(([network, { endpoint }]) => [
    `RPC_URL_${network.toUpperCase().replace(':', '_')}`,
    endpoint.url,
  ]);
  return {
    environment: Object.fromEntries(
      solana ? [...urls, ['RPC_URL_SOLANA_DEVNET', solana.endpoint.url]] : urls,
    ),
    move({ network, asset, from, to, amount, paymentId, transaction }, signedTransaction) {
      if (network === SOLANA) solana?.movePayment(signedTransaction, { signature: transaction });
      else
        chains.get(network)?.movePayment({ asset, from, payTo: to, amount, nonce: paymentId }, transaction);
    },
    issueBlockhash: () => solana?.issueBlockhash() ?? '',
  };
}

function repeat(makeBlock: () => void, ms: number, chain: { close(): Promise<void> }, parts: Parts): void {
  const making = setInterval(makeBlock, ms);
  parts.keep({
    async stop() {
      clearInterval(making);
      await chain.close();
    },
  });
}
