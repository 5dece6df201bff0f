import { parseArgs } from 'node:util';
import { readConfig } from '../../shared/config/config.js';
import { runEntryPoint } from '../../shared/startup/entry-point.js';
import { seedInBulk } from './growth/bulk.js';
import { A_YEAR_OF_BUSINESS, type Counts } from './growth/seed.js';

/**
 * `DATABASE_URL=… node --import tsx lab/bench/seed.ts [--sessions N] [--payments N] [--deliveries N] …` fills a
 * migrated, empty database with a year of data. It needs a superuser.
 */
await runEntryPoint(async () => {
  const names = Object.keys(A_YEAR_OF_BUSINESS) as (keyof Counts)[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options, strict: true });
  const counts = { ...A_YEAR_OF_BUSINESS };
  for (const name of names) {
    if (values[name] === undefined) continue;
    counts[name] = Number(values[name]);
    if (!Number.isSafeInteger(counts[name]) || counts[name] < 1)
      throw new Error(`--${name} must be a number.`);
  }
  await seedInBulk(readConfig('cli').database, counts);
});
