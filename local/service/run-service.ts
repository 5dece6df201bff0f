import { startWeb, type WebProcess } from '../../api/process/start-web.js';
import { useExplorers } from '../../shared/chains/networks/networks.js';
import { type Config, ConfigError, isProduction, isSet, readConfig } from '../../shared/config/config.js';
import { openDatabase } from '../../shared/db/knex.js';
import { createLogger, logStart } from '../../shared/process/logger.js';
import { makeFolder } from '../../shared/process/make-folder.js';
import { type Closable, closeOnSignal } from '../../shared/process/shutdown.js';
import { migrate } from '../../shared/schema/migrate.js';
import { runEntryPoint } from '../../shared/startup/entry-point.js';
import { startWorker } from '../../workers/process/start-worker.js';
import { demoMerchantKey, EVM_WALLET, SOLANA_WALLET } from '../demo/demo-merchant.js';
import { makeUpPayments } from '../demo/demo-payments.js';
import { createDemoSession } from '../demo/demo-session.js';
import { openDemoReceiver, subscribe } from '../demo/demo-webhooks.js';
import { writeExampleEnvironment } from '../demo/example-environment.js';
import { createLocalApi } from '../demo/local-api.js';
import { dashboardAddress, type Welcome, welcome } from '../demo/welcome.js';
import { dataFolder } from '../postgres/local-database.js';
import { addressesFor } from './addresses.js';
import { keepBaseUrl } from './running-sandbox.js';
import type { SandboxProcess } from './sandbox-process.js';
import { startDefaults } from './start-defaults.js';

/**
 * The whole service in one process, with defaults for everything that is not configured: a database, a sandbox, a port, a
 * merchant. It is one process, so that everything it starts ends with it, even after a crash.
 */
async function runService(): Promise<void> {
  if (isProduction()) {
    throw new ConfigError(
      'npm start uses defaults for what is not configured, which is not for NODE_ENV=production: use build, migrate, web and worker.',
    );
  }
  // Parts are closed in reverse order, also when a later step fails.
  const open: Closable[] = [];
  const service: Closable = {
    async close() {
      for (const part of open.splice(0).reverse()) await part.close();
    },
  };
  try {
    await makeFolder(dataFolder());
    const { defaults, sandbox, held } = await startDefaults(open, say);
    // PORT may be 0, for any port.
    const config = { ...readConfig('web', defaults), port: held.port };
    useExplorers(config.explorerUrls);
    const logger = createLogger(config.logLevel, 'local');
    logStart(logger);
    closeOnSignal(service, logger);
    void sandbox?.ended.then((reason) => stopWithout(service, reason));

    await migrate(config, logger);
    open.push(await startWorker(config, logger));
    await held.release();
    const web = await startWeb(config, logger);
    open.push(web);
    // Commands without DATABASE_URL work on the local database, which this start may not use.
    if (!isSet('DATABASE_URL') && !isBeside(sandbox)) await keepBaseUrl(dataFolder(), config.baseUrl);
    const shown = await prepareDemo({ config, web, open, sandbox });
    const { here, phones } = addressesFor({ ...config, port: web.port });
    const link = shown.link?.replace(config.baseUrl, here);
    const dashboard = config.dashboard ? dashboardAddress(here, sandbox && shown.key) : undefined;
    process.stdout.write(welcome({ ...shown, baseUrl: here, link, dashboard, phones }));
  } catch (error) {
    await service.close();
    throw error;
  }
}

interface Demo {
  config: Config;
  web: WebProcess;
  open: Closable[];
  sandbox: SandboxProcess | undefined;
}

async function prepareDemo({
  config,
  web,
  open,
  sandbox,
}: Demo): Promise<Omit<Welcome, 'baseUrl' | 'dashboard' | 'phones'>> {
  const { key, link } = await prepareMerchant(config, sandbox);
  if (sandbox === undefined || isBeside(sandbox)) return { key, link, printsWebhooks: false };
  const api = createLocalApi(web.port, key);
  const receiver = await openDemoReceiver(dataFolder(), (line) => process.stdout.write(`  ${line}\n`));
  open.push(receiver);
  return { key, link, printsWebhooks: await subscribe(api, dataFolder(), receiver) };
}

async function prepareMerchant(
  config: Config,
  sandbox: SandboxProcess | undefined,
): Promise<Pick<Welcome, 'key' | 'link'>> {
  const { database, baseUrl } = config;
  const db = openDatabase({ ...database, poolSize: 1 });
  try {
    // Demo payments are not made beside chains other than the sandbox's, or in a database that may be shared.
    const hasDemoPayments = sandbox !== undefined && !isSet('DATABASE_URL');
    const wallets = { evmWallet: EVM_WALLET, solanaWallet: SOLANA_WALLET };
    const testKey = await demoMerchantKey(db, dataFolder(), async (trx, accountId) => {
      if (hasDemoPayments) await makeUpPayments(trx, { accountId, ...wallets, baseUrl }, Date.now());
    });
    if (!isBeside(sandbox))
      await writeExampleEnvironment(db, dataFolder(), { baseUrl, testKey, buyerKey: sandbox?.buyerKey });
    const picture = config.allowPrivateWebhooks ? sandbox?.picture : undefined;
    const link = sandbox && (await createDemoSession(db, { testKey, baseUrl, picture }));
    return { key: testKey, link };
  } finally {
    await db.destroy();
  }
}

/** Whether another start has the sandbox: the addresses that commands and examples read stay those of that start. */
function isBeside(sandbox: SandboxProcess | undefined): boolean {
  return sandbox?.joined === true;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function stopWithout(service: Closable, reason: string): Promise<void> {
  say(`The sandbox has ended, and without it nothing can be paid: start again. ${reason}`);
  await service.close();
  process.exit(1);
}

await runEntryPoint(runService);
