import { json } from 'node:stream/consumers';
import { nowMs } from '../../../shared/process/clock.js';
import type { Chain } from '../../world/chains/chain.js';
import { CHAIN_FAULT_NAMES, CHAIN_FAULTS, endFaults } from '../../world/chains/faults.js';
import { serveLocally } from '../../world/http/listen.js';
import type { Transfer } from '../journals/entries.js';
import { Journal } from '../journals/journal.js';

/** A transfer that the facilitator asks a chain to execute once. */
export interface WantedTransfer extends Omit<Transfer, 'at' | 'succeeded'> {
  asset: string;
  /** EVM only, in seconds: no later block accepts the authorization. */
  validBefore?: number | undefined;
  /** Solana only: the transaction as the buyer signed it. */
  signedTransaction?: string | undefined;
}

export type Executed = Pick<Transfer, 'succeeded'>;

/**
 * The endpoint that executes transfers for the facilitator; returns its URL. A halted chain executes them when it resumes.
 * `execute` returns false for a transfer that is too late, or whose authorization is used.
 */
export async function serveTransfers(
  chain: Chain,
  journal: string,
  execute: (wanted: WantedTransfer, isUnused: boolean) => boolean,
): Promise<string> {
  const ledger = new Journal<Transfer>(journal);
  const used = new Set<string>();
  const { url } = await serveLocally(async (request, response) => {
    const wanted = (await json(request)) as WantedTransfer;
    await chain.running();
    const { nonce, transaction, from, to, amount } = wanted;
    const succeeded = execute(wanted, !used.has(nonce));
    if (succeeded) used.add(nonce);
    ledger.write({ at: nowMs(), nonce, transaction, from, to, amount, succeeded });
    response.end(JSON.stringify({ succeeded } satisfies Executed));
  });
  return url;
}

/** The orders that every chain follows. Its endpoint always has this limit. */
export function chainOrders(chain: Chain, callsPerSecond = Number.POSITIVE_INFINITY) {
  const limitTo = (calls: number): void => {
    chain.endpoint.callsPerSecond = calls;
  };
  limitTo(callsPerSecond);
  return {
    /** Called before the last check of the whole chain, which would take minutes under the limit. */
    endLimit: () => limitTo(Number.POSITIVE_INFINITY),
    applyFault({ fault, size }: Record<string, string>) {
      const name = CHAIN_FAULT_NAMES.find((known) => known === fault);
      if (name === undefined) throw new Error(`there is no chain fault ${fault}`);
      CHAIN_FAULTS[name](chain, Number(size));
    },
    recover() {
      endFaults(chain);
      limitTo(callsPerSecond);
    },
  };
}
