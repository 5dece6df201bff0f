import { loadConfig } from '../../shared/config/config.js';
import { migrate } from '../../shared/migrate.js';
import { createLogger } from '../../shared/process/logger.js';
import { startTestPostgres } from '../world/processes/services.js';
import { type Explored, explore } from './explore.js';
import { MISTAKES } from './mistakes.js';
import { type ExploreOptions, readOptions, UsageError } from './options.js';
import { rowsAsMarkdown } from './policy/rows.js';
import { explorePolicy } from './policy/tell.js';
import { openStage } from './stage/stage.js';

const USAGE = 'npm run explore -- --policy | --rows | [--trials N] [--seed S] [--path P] [--mistake NAME]\n';

/** Exits 0 when every story kept every promise, 1 when one did not. */
async function main(): Promise<number> {
  const options = parse();
  if (options === undefined) return 1;
  if (options.rows) {
    process.stdout.write(rowsAsMarkdown());
    return 0;
  }
  if (options.policy) return explorePolicy((line) => process.stdout.write(`${line}\n`)) ? 0 : 1;
  const postgres = await startTestPostgres();
  let isStopped = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isStopped = true;
      void postgres.stop().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  try {
    const { text, status } = await run(options, postgres.url);
    // What broke with its database says nothing; the signal's handler ends this process.
    if (isStopped) await new Promise(() => undefined);
    process.stdout.write(text);
    return status;
  } finally {
    await postgres.stop();
  }
}

interface Told {
  text: string;
  status: number;
}

async function run({ trials, seed, path, mistake: name }: ExploreOptions, url: string): Promise<Told> {
  await migrate(loadConfig({ DATABASE_URL: url }, 'migrate'), createLogger('silent', 'explore'));
  const mistake = name === undefined ? undefined : MISTAKES.find((one) => one.name.includes(name));
  const stage = await openStage(url);
  process.stdout.write(`Exploring ${trials} stories with seed ${seed} …\n`);
  const startedAt = process.hrtime.bigint();
  try {
    const explored = await explore(stage, {
      trials,
      seed,
      ...(mistake && { mistake }),
      ...(path !== undefined && { path }),
    });
    const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
    return { text: `${report(explored, seconds)}\n`, status: explored.failure === undefined ? 0 : 1 };
  } finally {
    await stage.close();
  }
}

function report({ trials, counts, failure }: Explored, seconds: number): string {
  return [
    ...[...counts].map(([what, times]) => `${String(times).padStart(8)}  ${what}`),
    `${trials} stories in ${seconds.toFixed(1)} s.`,
    failure ?? 'No story broke a promise.',
  ].join('\n');
}

function parse(): ExploreOptions | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${USAGE}`);
    return undefined;
  }
}

process.exit(await main());
