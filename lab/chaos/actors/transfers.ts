import { json } from 'node:stream/consumers';
import type { Chain } from '../../world/chains/chain.js';
import { CHAIN_FAULT_NAMES, CHAIN_FAULTS } from '../../world/chains/faults.js';
import { serveLocally } from '../../world/http/listen.js';

/** A transfer that the facilitator asks a chain to execute once. */
export interface WantedTransfer {
  nonce: string;
  transaction: string;
  from: string;
  to: string;
  amount: string;
  asset: string;
  /** EVM only, in seconds: no later block accepts the authorization. */
  validBefore?: number | undefined;
  /** Solana only: the transaction as the buyer signed it. */
  signedTransaction?: string | undefined;
}

export interface Executed {
  succeeded: boolean;
}

/** The endpoint that executes transfers for the facilitator; returns its URL. */
export async function serveTransfers(
  execute: (wanted: WantedTransfer) => Promise<Executed>,
): Promise<string> {
  const { url } = await serveLocally(async (request, response) => {
    response.end(JSON.stringify(await execute((await json(request)) as WantedTransfer)));
  });
  return url;
}

/** Begins the fault that a run has ordered: its name and its size. */
export function beginFault(chain: Chain, { fault, size }: Record<string, string>): void {
  const name = CHAIN_FAULT_NAMES.find((known) => known === fault);
  if (name === undefined) throw new Error(`there is no chain fault ${fault}`);
  CHAIN_FAULTS[name](chain, Number(size));
}
