import { mkdir } from 'node:fs/promises';
import { startWeb } from '../api/server.js';
import { ConfigError, isProduction, isSet, readConfig } from '../shared/config.js';
import { openDatabase } from '../shared/db/knex.js';
import { migrate } from '../shared/db/migrate.js';
import { runEntryPoint } from '../shared/entry-point.js';
import { createLogger } from '../shared/logger.js';
import { type Closable, closeOnSignal } from '../shared/shutdown.js';
import { startWorker } from '../workers/main.js';
import { choosePort } from './choose-port.js';
import { demoMerchantKey } from './demo-merchant.js';
import { localEncryptionKey } from './encryption-key.js';
import { dataFolder, startLocalDatabase } from './local-database.js';
import { welcome } from './welcome.js';

/** Nothing listens there: links can be made, and paying one answers that the payment service is not available. */
const NO_FACILITATOR = 'http://127.0.0.1:4022';

/**
 * The whole service in one process, with what is not configured filled in: a database, a port, a merchant.
 * One process, since the embedded database ends with it: nothing is left behind however it ends.
 */
async function runService(): Promise<void> {
  if (isProduction()) {
    throw new ConfigError(
      'npm start fills in what is not configured, which is not for NODE_ENV=production: use build, migrate, web and worker.',
    );
  }
  // What is open is closed in the opposite order, also when a later step fails.
  const open: Closable[] = [];
  const service: Closable = {
    async close() {
      for (const part of open.reverse()) await part.close();
    },
  };
  try {
    await mkdir(dataFolder(), { recursive: true });
    const defaults: Record<string, string> = { LOG_LEVEL: 'warn' };
    if (!isSet('DATABASE_URL')) {
      const database = await startLocalDatabase();
      open.push({ close: () => database.stop() });
      defaults.DATABASE_URL = database.url;
    }
    if (!isSet('PORT')) defaults.PORT = String(await choosePort());
    if (!isSet('ENCRYPTION_KEY')) defaults.ENCRYPTION_KEY = await localEncryptionKey(dataFolder());
    if (!isSet('FACILITATOR_URL')) defaults.FACILITATOR_URL = NO_FACILITATOR;
    const config = readConfig('web', defaults);
    const logger = createLogger(config.logLevel, 'local');
    closeOnSignal(service, logger);

    await migrate(config, logger);
    open.push(await startWorker(config, logger), await startWeb(config, logger));
    const db = openDatabase({ ...config.database, poolSize: 1 });
    const key = await demoMerchantKey(db, dataFolder());
    await db.destroy();
    process.stdout.write(welcome({ baseUrl: config.baseUrl, key, hasFacilitator: isSet('FACILITATOR_URL') }));
  } catch (error) {
    await service.close();
    throw error;
  }
}

await runEntryPoint(runService);
