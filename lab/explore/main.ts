import { loadConfig } from '../../shared/config/config.js';
import { createLogger } from '../../shared/process/logger.js';
import { migrate } from '../../shared/schema/migrate.js';
import { rowsAsMarkdown } from '../world/history/rows.js';
import { startTestPostgres } from '../world/processes/services.js';
import { withParts } from '../world/program/parts.js';
import { runMain } from '../world/program/usage.js';
import { checkHistory } from './history/check-history.js';
import { explorePolicy } from './policy/explore-policy.js';
import type { Explored } from './run/explore.js';
import { type ExploreOptions, readOptions, USAGE } from './run/options.js';

/** Exits 0 when every trial kept every invariant, 1 otherwise. */
async function main(options: ExploreOptions): Promise<number> {
  if (options.rows) {
    process.stdout.write(rowsAsMarkdown());
    return 0;
  }
  if (options.policy) return explorePolicy((line) => process.stdout.write(`${line}\n`)) ? 0 : 1;
  const { history } = options;
  if (history !== undefined)
    return (await checkHistory(history, (line) => process.stdout.write(`${line}\n`))) ? 0 : 1;
  const { text, status } = await withParts(
    async (parts) => await run(options, parts.keep(await startTestPostgres()).url),
  );
  process.stdout.write(text);
  return status;
}

interface Outcome {
  text: string;
  status: number;
}

async function run({ trials, seed, path, mutant: name }: ExploreOptions, url: string): Promise<Outcome> {
  await migrate(loadConfig({ DATABASE_URL: url }, 'migrate'), createLogger('silent', 'explore'));
  // These modules load the whole service, which the other options do not need.
  const { findMutant } = await import('./run/find-mutant.js');
  const { explore } = await import('./run/explore.js');
  const { openSystem } = await import('./system/system.js');
  const mutant = name === undefined ? undefined : findMutant(name);
  const system = await openSystem(url);
  process.stdout.write(`Exploring ${trials} trials with seed ${seed} …\n`);
  const startedAt = process.hrtime.bigint();
  try {
    const explored = await explore(system, {
      trials,
      seed,
      ...(mutant && { mutant }),
      ...(path !== undefined && { path }),
    });
    const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
    return { text: `${report(explored, seconds)}\n`, status: explored.failure === undefined ? 0 : 1 };
  } finally {
    await system.close();
  }
}

function report({ trials, counts, failure }: Explored, seconds: number): string {
  return [
    ...[...counts].map(([what, times]) => `${String(times).padStart(8)}  ${what}`),
    `${trials} trials in ${seconds.toFixed(1)} s.`,
    failure ?? 'No trial broke an invariant.',
  ].join('\n');
}

await runMain(USAGE, () => main(readOptions(process.argv.slice(2))));
