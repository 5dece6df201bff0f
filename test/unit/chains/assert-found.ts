import assert from 'node:assert/strict';
import type { Fault } from '../../../lab/world/chains/rpc-endpoint.js';
import type { Chains } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import type { SearchPosition } from '../../../shared/chains/check/search-position.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm/evm.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana/solana.js';

/** How an endpoint may fail, and what is then said of it. */
export const FAULTS: [fault: Fault, reason: RegExp][] = [
  ['cut', /cannot be reached: UND_ERR_SOCKET|cannot be reached: ECONNRESET/],
  ['http_500', /HTTP 500/],
  ['http_429', /HTTP 429/],
  ['garbage', /cannot be used/],
  ['wrong_shape', /./],
];

export async function assertFound(
  kind: 'unreadable' | 'used' | 'searching',
  finding: Promise<ChainFinding>,
  reason: RegExp,
): Promise<void> {
  const found = await finding;
  assert.equal(found.kind, kind);
  assert.match('reason' in found ? found.reason : '', reason);
}

export const assertUnreadable = (finding: Promise<ChainFinding>, reason: RegExp): Promise<void> =>
  assertFound('unreadable', finding, reason);

/** A check, or checks until the search is over, show the payment in this transaction. */
export async function assertPaid(
  checked: Promise<ChainFinding | { finding: ChainFinding } | undefined>,
  transaction: string,
): Promise<void> {
  const said = await checked;
  const found = said !== undefined && 'finding' in said ? said.finding : said;
  assert.equal(found?.kind === 'paid' && found.transaction, transaction);
}

/** Checks until the search for the payment is over; undefined when it is not after `most` checks. */
export async function checkUntilDecided(
  chains: Chains,
  payment: EvmPaymentQuery | SolanaPaymentQuery,
  most: number,
  between: () => void = () => {},
): Promise<{ finding: ChainFinding; checks: number } | undefined> {
  let position: SearchPosition | undefined;
  for (let checks = 1; checks <= most; checks += 1) {
    between();
    const finding = await chains.check({ ...payment, position });
    if (finding.kind !== (payment.family === 'evm' ? 'used' : 'searching')) return { finding, checks };
    position = finding.position;
  }
  return undefined;
}
