import { ConfigError, isProduction, isSet, readConfig, readEnvFile } from '../shared/config/config.js';
import { openDatabase } from '../shared/db/knex.js';
import { Refusal } from '../shared/errors/refusal.js';
import { migrate } from '../shared/migrate.js';
import { createLogger } from '../shared/process/logger.js';
import { DoneInPart } from './command.js';
import { COMMANDS, USAGE } from './commands.js';
import { formatText } from './format-text.js';
import { missingAccounts } from './missing-accounts.js';
import { type CommandLine, parseCommandLine, UsageError } from './parse-command-line.js';
import { runRecorded } from './run-recorded.js';

export interface Output {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** With what `.env` says. */
export async function start(argv: readonly string[]): Promise<number> {
  try {
    readEnvFile();
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  }
  return await main(argv);
}

/** The operator's commands: answers go to standard output, one clear line about what went wrong to standard error. */
export async function main(argv: readonly string[], output: Output = process): Promise<number> {
  let place = output.stdout;
  const tell = (answer: object): void => {
    place.write(argv.includes('--json') ? `${JSON.stringify(answer)}\n` : formatText(answer));
  };
  try {
    const line = parseCommandLine(argv, COMMANDS);
    if (line?.command.isBesideData?.(line.input) === true) place = output.stderr;
    if (line === undefined) output.stdout.write(USAGE);
    else tell(await run(line));
    return 0;
  } catch (error) {
    if (error instanceof DoneInPart) tell(error.answer);
    output.stderr.write(`${explain(error)}\n`);
    return 1;
  }
}

/**
 * Without DATABASE_URL it works on the database of a running `npm start`, or starts that one for the call; in production
 * it is refused, since that database would be nobody's.
 */
async function run(line: CommandLine): Promise<object> {
  const local = isSet('DATABASE_URL') || isProduction() ? undefined : await startLocalDatabase();
  try {
    const config = readConfig('cli', local && { DATABASE_URL: local.url, ...OF_THE_SANDBOX });
    if (local !== undefined) await migrate(config, createLogger('silent', 'cli'));
    const db = openDatabase(config.database);
    try {
      const { answer, deed } = await runRecorded(db, line);
      return { ...answer, ...(await missingAccounts(config, deed.solanaWallet ?? null)) };
    } finally {
      await db.destroy();
    }
  } finally {
    await local?.stop();
  }
}

/** Its chain opens a merchant's accounts when they are first paid into. */
const OF_THE_SANDBOX = { CHECK_TOKEN_ACCOUNTS: 'false' };

async function startLocalDatabase(): Promise<{ url: string; stop(): Promise<void> }> {
  const { startLocalDatabase: start } = await import('../local/postgres/local-database.js');
  return await start();
}

function explain(error: unknown): string {
  const isOurs = [UsageError, Refusal, ConfigError, DoneInPart].some((kind) => error instanceof kind);
  if (isOurs && error instanceof Error) return error.message;
  return error instanceof Error ? `This did not work: ${error.message || error.name}` : String(error);
}
