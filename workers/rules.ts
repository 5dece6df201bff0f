import { findNetwork } from '../shared/chains/networks.js';
import { now, ownNowMs } from '../shared/clock.js';
import type { Config } from '../shared/config.js';
import type { Rules, Times } from '../shared/domain/payment-policy/standing.js';
import type { Payment } from '../shared/models/payment.js';

/** What the operator has set for this payment's network. */
export function rulesFor(
  { confirmations, facilitator }: Config,
  { network }: Pick<Payment, 'network'>,
): Rules {
  const suffix = findNetwork(network)?.environmentSuffix;
  return {
    confirmations: suffix === undefined ? 0 : (confirmations.get(suffix) ?? 0),
    settleTimeoutMs: facilitator.settleTimeoutMs,
  };
}

export function times(): Times {
  return { now: now(), own: new Date(ownNowMs()) };
}
