import { useExplorers } from '../shared/chains/networks/networks.js';
import { ConfigError, readConfig, readEnvFile } from '../shared/config/config.js';
import { openDatabase } from '../shared/db/knex.js';
import { messageOf } from '../shared/db/postgres-errors.js';
import { Refusal } from '../shared/errors/refusal.js';
import { createLogger } from '../shared/process/logger.js';
import { failOnSignal } from '../shared/process/shutdown.js';
import { migrate } from '../shared/schema/migrate.js';
import { chooseDatabase, describeDatabase } from './choose-database.js';
import { type CommandContext, PartialFailure } from './command.js';
import { COMMANDS, USAGE } from './commands.js';
import { formatText } from './format-text.js';
import { missingAccounts } from './missing-accounts.js';
import { type CommandLine, parseCommandLine, UsageError } from './parse-command-line.js';
import { runAudited, UnansweredCommit } from './run-audited.js';

interface Output {
  stdout: { write(text: string): unknown };
  stderr: CommandContext['stderr'];
}

export async function start(argv: readonly string[]): Promise<number> {
  let tell: (() => string) | undefined;
  failOnSignal((signal) => {
    if (tell !== undefined) process.stderr.write(`Ended by ${signal}. ${tell()}\n`);
  });
  try {
    readEnvFile();
    process.stdout.once('error', endUnwritten);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  }
  return await main(argv, process, (sentence) => {
    tell = sentence;
  });
}

/** The reader of a pipe, such as head, has seen enough. Every other error, as of a full disk, leaves a part of the output. */
function endUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE')
    process.stderr.write(
      `The output could not be written (${error.message}). What the command has changed stays: "audit" lists it.\n`,
    );
  process.exit(1);
}

/**
 * Runs an operator's command. The answer goes to standard output, an error to standard error as one line. `onChange` is that
 * of `runAudited`.
 */
export async function main(
  argv: readonly string[],
  output: Output = process,
  onChange: (sentence: () => string) => void = () => {},
): Promise<number> {
  let destination = output.stdout;
  const isJson = argv.includes('--json');
  const format = (answer: object): string => (isJson ? `${JSON.stringify(answer)}\n` : formatText(answer));
  const print = (answer: object): void => void destination.write(format(answer));
  const write = (text: string): void => void output.stdout.write(text);
  const printPart = (part: object): void =>
    void output.stdout.write(isJson ? format(part) : `${format(part)}\n`);
  try {
    const line = parseCommandLine(argv, COMMANDS);
    if (line?.command.writesDataToStdout?.(line.input) === true) destination = output.stderr;
    if (line === undefined) output.stdout.write(USAGE);
    else print(await run(line, { isJson, stderr: output.stderr, print: printPart, write }, onChange));
    return 0;
  } catch (error) {
    if (error instanceof PartialFailure) print(error.answer);
    output.stderr.write(`${explain(error)}\n`);
    return 1;
  }
}

/** Names the database before the command's first statement. */
async function run(
  line: CommandLine,
  output: Omit<CommandContext, 'config'>,
  onChange: (sentence: () => string) => void,
): Promise<object> {
  const local = await chooseDatabase(line.local);
  try {
    const config = readConfig('cli', local?.settings);
    useExplorers(config.explorerUrls);
    output.stderr.write(`${describeDatabase(config.database.url, local)}\n`);
    // A running service has migrated its database.
    if (local?.started === true) await migrate(config, createLogger('silent', 'cli'));
    const db = openDatabase(config.database);
    try {
      const { answer, audit } = await runAudited(db, line, { ...output, config }, onChange);
      return { ...answer, ...(await missingAccounts(config, audit.solanaWallet ?? null)) };
    } finally {
      await db.destroy();
    }
  } finally {
    await local?.stop();
  }
}

function explain(error: unknown): string {
  // A server lists each unusable setting in a line of its own; a command's error is one line.
  if (error instanceof ConfigError) return error.message.replace(/\n\s*/g, ' ');
  const hasPlainMessage = [UsageError, Refusal, PartialFailure, UnansweredCommit].some(
    (kind) => error instanceof kind,
  );
  if (hasPlainMessage && error instanceof Error) return error.message;
  return error instanceof Error ? `The command failed: ${messageOf(error)}` : String(error);
}
