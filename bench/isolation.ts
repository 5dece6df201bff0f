import { parseArgs } from 'node:util';
import { runEntryPoint } from '../shared/entry-point.js';
import { openSubject } from './growth/measure.js';
import { medians } from './growth/medians.js';

/**
 * `node --import tsx bench/isolation.ts --database <url> [--redis <url>] [--times N]`: whether the time of a 404 tells
 * another account's object from none, on a database that bench/seed.ts has filled. Within 20 %.
 */
await runEntryPoint(async () => {
  const { values } = parseArgs({
    options: {
      database: { type: 'string' },
      redis: { type: 'string' },
      times: { type: 'string', default: '1000' },
    },
    strict: true,
  });
  const { database, redis, times } = values;
  if (database === undefined) throw new Error('--database is needed.');
  const { acts, close } = await openSubject({
    databaseUrl: database,
    redisUrl: redis,
    facilitatorUrl: 'http://127.0.0.1:1',
  });
  for (const object of ['session', 'cursor', 'endpoint']) {
    const pair = ['not yours', 'not there'].flatMap((which) => acts[`${object}, ${which}`] ?? []);
    const [yours = 0, there = 0] = await medians(pair, Number(times));
    const cells = [object.padEnd(10), `not yours ${yours.toFixed(2)} ms`, `not there ${there.toFixed(2)} ms`];
    process.stdout.write(`${cells.join('  ')}  ×${(yours / there).toFixed(2)}\n`);
  }
  await close();
});
