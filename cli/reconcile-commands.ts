import { getAccount } from '../shared/accounts/accounts.js';
import { type Config, ConfigError, usesDevelopmentKey } from '../shared/config/config.js';
import { presentLine } from '../shared/reconcile/line.js';
import type { Command } from './command.js';
import { readPast } from './read-times.js';

/** Holds the books against the chains. */
export const RECONCILE_COMMANDS: Readonly<Record<string, Command>> = {
  reconcile: {
    usage: '[--since T] [--account acct_…] [--network N] [--repair]',
    options: ['since', 'account', 'network'],
    flags: ['repair'],
    // Each repair is a transaction of its own, after calls to chains.
    changes: 'piecemeal',
    // The lines of the report. The counts go to standard error.
    writesDataToStdout: () => true,
    async run(db, input, audit, context) {
      requireKey(context.config);
      // This import loads the chains' libraries.
      const { readNetworks, runReconcile } = await import('./run-reconcile.js');
      const since = input.since === undefined ? undefined : readPast('--since', input.since);
      const repair = input.repair !== undefined;
      if (input.account !== undefined) await getAccount(db, input.account);
      const networks = await readNetworks(db, input.network, context.config, since);
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

/** With another key than web's, no transfer would be recognized. */
function requireKey(config: Config): void {
  if (config.production && usesDevelopmentKey(config))
    throw new ConfigError('ENCRYPTION_KEY is missing: set it to the value of web and workers.');
}
