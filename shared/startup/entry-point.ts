import { ConfigError, readEnvFile } from '../config/config.js';

/** Runs a process's main function. A failed start prints the reason and exits with 1. */
export async function runEntryPoint(main: () => Promise<void>): Promise<void> {
  try {
    readEnvFile();
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : describe(error)}\n`);
    process.exit(1);
  }
}

/** A plain Error has a message for operators; errors of other classes are bugs and get their stack printed. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error ? error.message : (error.stack ?? error.message);
}
