import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ConfigError } from './config.js';

/** True when node was started with this module, false when it was imported. */
export function isEntryPoint(moduleUrl: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(moduleUrl);
}

/** Runs a process's main function; a start that fails says why in plain words and exits 1. */
export async function runEntryPoint(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : describe(error)}\n`);
    process.exit(1);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
