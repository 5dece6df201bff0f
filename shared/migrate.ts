import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from './config/config.js';
import { createLogger, logStart } from './process/logger.js';
import { failOnSignal } from './process/shutdown.js';
import { migrate, migrateDown } from './schema/migrate.js';
import { runEntryPoint } from './startup/entry-point.js';

failOnSignal();
await runEntryPoint(async () => {
  const down = isDown(process.argv.slice(2));
  const config = readConfig('migrate');
  const logger = createLogger(config.logLevel, 'migrate');
  logStart(logger);
  if (down) await migrateDown(config, logger);
  else await migrate(config, logger);
});

function isDown(words: string[]): boolean {
  try {
    return parseArgs({ args: words, options: { down: { type: 'boolean' } } }).values.down === true;
  } catch {
    throw new ConfigError(
      `npm run migrate does not take "${words.join(' ')}". Usage: npm run migrate, or npm run migrate -- --down for one step back.`,
    );
  }
}
