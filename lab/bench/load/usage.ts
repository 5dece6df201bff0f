import type { Redis } from 'ioredis';
import type { Row } from '../report/benchmark.js';
import { round } from '../report/statistics.js';
import type { BenchProcess } from '../system/server-process.js';
import type { System } from '../system/system.js';

/** The processes of the service, and its stores. */
export interface Parts {
  webs: readonly BenchProcess[];
  workers: readonly BenchProcess[];
  postgres: Pick<BenchProcess, 'cpuMs'>;
  redis: Redis;
}

/** The processor time, commits, commands and bytes of one operation, while `act` does as many as it returns. */
export async function usageOfOne(system: System, parts: Parts, act: () => Promise<number>) {
  const before = await readUsage(system, parts);
  const times = await act();
  const after = await readUsage(system, parts);
  const each = (part: keyof typeof before): number => round((after[part] - before[part]) / times);
  return {
    'web ms': each('web'),
    'worker ms': each('worker'),
    'postgres ms': each('postgres'),
    commits: each('commits'),
    'bytes in Postgres': Math.round(each('bytes')),
    'redis ms': each('redis'),
    'redis commands': each('commands'),
    'bytes in Redis': Math.round(each('memory')),
  } satisfies Row;
}

async function readUsage({ db }: System, { webs, workers, postgres, redis }: Parts) {
  await db.raw('SELECT pg_stat_force_next_flush()');
  const { rows } = await db.raw(`
    SELECT xact_commit::int AS commits, pg_database_size(datname) AS bytes FROM pg_stat_database
    WHERE datname = current_database()`);
  const [web, worker, postgresMs] = await Promise.all([
    cpuMsOfAll(webs),
    cpuMsOfAll(workers),
    postgres.cpuMs(),
  ]);
  const info = await redis.info();
  const field = (name: string): number => Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1]);
  return {
    web,
    worker,
    postgres: postgresMs,
    redis: (field('used_cpu_sys') + field('used_cpu_user')) * 1000,
    commands: field('total_commands_processed'),
    memory: field('used_memory'),
    commits: Number(rows[0].commits),
    bytes: Number(rows[0].bytes),
  };
}

async function cpuMsOfAll(processes: Parts['webs']): Promise<number> {
  const each = await Promise.all(processes.map((one) => one.cpuMs()));
  return each.reduce((sum, ms) => sum + ms, 0);
}
