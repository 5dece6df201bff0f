import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ConfigError, readEnvFile } from '../config/config.js';

/** True when node was started with this module, false when it was imported. */
export function isEntryPoint(moduleUrl: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(moduleUrl);
}

/** Runs a process's main function; a start that fails says why in plain words and exits 1. */
export async function runEntryPoint(main: () => Promise<void>): Promise<void> {
  try {
    readEnvFile();
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : describe(error)}\n`);
    process.exit(1);
  }
}

/** An error of a class of its own is a mistake of ours and worth its stack; a plain one was written to be read. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error ? error.message : (error.stack ?? error.message);
}
