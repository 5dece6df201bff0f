import { createChainReader } from '../shared/chains/chain-reader.js';
import { createChains } from '../shared/chains/chains.js';
import { findNetwork, NETWORKS, type Network } from '../shared/chains/networks/networks.js';
import { EndpointQueues } from '../shared/chains/rpc/endpoint-queues.js';
import type { Config } from '../shared/config/config.js';
import type { Knex } from '../shared/db/knex.js';
import { decisionNotifier } from '../shared/queues/decision-notifier.js';
import { leaveToSweep } from '../shared/queues/delivery-notifier.js';
import { networksToRead } from '../shared/reconcile/networks.js';
import { type ReconcileOptions, reconcile } from '../shared/reconcile/reconcile.js';
import { isAllMatched, type Summary, type Unread } from '../shared/reconcile/run.js';
import { openUnlimitedFacilitators } from '../shared/x402/facilitator/facilitators.js';
import { createPaymentReferences } from '../shared/x402/payment-reference.js';
import { type CommandContext, type Input, PartialFailure } from './command.js';
import { linkBaseUrl } from './link-base-url.js';
import { commandLogger } from './logger.js';
import { UsageError } from './parse-command-line.js';

/** Prints what does not match, and fails unless all does. */
export async function runReconcile(
  db: Knex,
  context: CommandContext,
  options: ReconcileOptions,
): Promise<object> {
  const { config } = context;
  const queues = new EndpointQueues();
  const chains = createChains(config.rpcUrls, { queues, confirmations: config.confirmations });
  const deps = {
    db,
    config,
    chains,
    chainReader: createChainReader(config.rpcUrls, { queues }),
    references: createPaymentReferences(config.encryptionKeys),
    logger: commandLogger(context),
    // Only a repair writes events, which hold links.
    baseUrl: options.repair ? linkBaseUrl(context) : config.baseUrl,
    notifyDeliveries: leaveToSweep,
    notifyDecided: decisionNotifier(undefined),
  };
  try {
    const summary = await reconcile(deps, options);
    if (isAllMatched(summary)) return summary;
    throw new PartialFailure(describe(summary), summary);
  } finally {
    chains.close();
  }
}

function describe({ unrecorded, repaired, missing, different, unread }: Summary): string {
  const counts = [
    [unrecorded - repaired, 'unrecorded'],
    [repaired, 'repaired'],
    [missing, 'missing'],
    [different, 'different'],
  ] as const;
  const said = counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  const reasons = unread.map((one) =>
    [one.network, describeUnread(one), one.reason].filter((part) => part !== undefined).join(': '),
  );
  if (reasons.length > 0) said.push(`not read: ${reasons.join('; ')}`);
  const isRepaired = said.length === 1 && repaired > 0;
  return `The books ${isRepaired ? 'did' : 'do'} not match the chains: ${said.join(', ')}.`;
}

function describeUnread({ transaction, payment, wallet, block, payer }: Unread): string | undefined {
  if (wallet === undefined) return transaction ?? payment;
  const from = payer === undefined ? '' : ` from ${payer}`;
  return `transfers to ${wallet}${from} in block ${block}`;
}

/** The network that is named, or those on which payments may have arrived. */
export async function readNetworks(
  db: Knex,
  named: Input[string],
  config: Config,
  since?: Date,
): Promise<readonly Network[]> {
  if (named !== undefined) {
    const network = findNetwork(named);
    if (network !== undefined) return [network];
    throw new UsageError(`--network must be a network's CAIP-2 id such as eip155:8453; it is "${named}".`);
  }
  if (config.facilitators.length === 0) return NETWORKS;
  const facilitators = openUnlimitedFacilitators(config.facilitators);
  try {
    return await networksToRead(db, facilitators, since);
  } finally {
    await facilitators.close();
  }
}
