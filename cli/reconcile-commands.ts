import { getAccount } from '../shared/accounts/accounts.js';
import { createChainReader } from '../shared/chains/chain-reader.js';
import { createChains } from '../shared/chains/confirmation.js';
import { EndpointQueues } from '../shared/chains/endpoint-queues.js';
import { findNetwork, NETWORKS, type Network } from '../shared/chains/networks.js';
import { type Config, ConfigError, usesDevelopmentKey } from '../shared/config/config.js';
import type { Knex } from '../shared/db/knex.js';
import { decisionNotifier } from '../shared/queues/decision-notifier.js';
import { leaveToSweep } from '../shared/queues/notify-deliveries.js';
import { presentLine } from '../shared/reconcile/line.js';
import { networksToRead } from '../shared/reconcile/networks.js';
import { type ReconcileOptions, reconcile } from '../shared/reconcile/reconcile.js';
import { isAllMatched, type Summary } from '../shared/reconcile/run.js';
import { openUnlimitedFacilitators } from '../shared/x402/facilitators.js';
import { createPaymentReferences } from '../shared/x402/payment-reference.js';
import { type Command, type CommandContext, type Input, PartialFailure } from './command.js';
import { addressOfLinks } from './link-address.js';
import { commandLogger } from './logger.js';
import { UsageError } from './parse-command-line.js';
import { readPast } from './read-times.js';

/** Holds the books against the chains. */
export const RECONCILE_COMMANDS: Readonly<Record<string, Command>> = {
  reconcile: {
    usage: '[--since DATE] [--account acct_…] [--network N] [--repair]',
    options: ['since', 'account', 'network'],
    flags: ['repair'],
    // Each repair is a transaction of its own, after calls to chains.
    changes: 'piecemeal',
    // The lines of the report. The counts go to standard error.
    writesDataToStdout: () => true,
    async run(db, input, audit, context) {
      requireKey(context.config);
      const since = input.since === undefined ? undefined : readPast('--since', input.since);
      const repair = input.repair !== undefined;
      if (input.account !== undefined) await getAccount(db, input.account);
      const networks = await readNetworks(db, input.network, context.config);
      if (repair) await audit.record(db);
      return await runReconcile(db, context, {
        reader: repair ? 'repair' : 'report',
        repair,
        networks,
        since,
        accountId: input.account,
        onLine: (line) => {
          if (context.isJson || line.status !== 'matched') context.print(presentLine(line));
        },
      });
    },
  },
};

async function runReconcile(db: Knex, context: CommandContext, options: ReconcileOptions): Promise<object> {
  const { config } = context;
  const queues = new EndpointQueues();
  const chains = createChains(config.rpcUrls, { queues });
  const deps = {
    db,
    config,
    chains,
    chainReader: createChainReader(config.rpcUrls, { queues }),
    references: createPaymentReferences(config.encryptionKeys),
    logger: commandLogger(context),
    // Only a repair writes events, which hold links.
    baseUrl: options.repair ? addressOfLinks(context) : config.baseUrl,
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
  const reasons = unread.map(({ network, transaction, payment, reason }) =>
    [network, transaction ?? payment, reason].filter((part) => part !== undefined).join(': '),
  );
  if (reasons.length > 0) said.push(`not read: ${reasons.join('; ')}`);
  const isRepaired = said.length === 1 && repaired > 0;
  return `The books ${isRepaired ? 'did' : 'do'} not match the chains: ${said.join(', ')}.`;
}

/** With another key than web's, no transfer would be recognized. */
function requireKey(config: Config): void {
  if (config.production && usesDevelopmentKey(config))
    throw new ConfigError('ENCRYPTION_KEY is missing: set it to the value of web and workers.');
}

async function readNetworks(db: Knex, named: Input[string], config: Config): Promise<readonly Network[]> {
  if (named !== undefined) {
    const network = findNetwork(named);
    if (network !== undefined) return [network];
    throw new UsageError(`--network must be a network's CAIP-2 id such as eip155:8453; it is "${named}".`);
  }
  if (config.facilitators.length === 0) return NETWORKS;
  const facilitators = openUnlimitedFacilitators(config.facilitators);
  try {
    return await networksToRead(db, await facilitators.supported());
  } finally {
    await facilitators.close();
  }
}
