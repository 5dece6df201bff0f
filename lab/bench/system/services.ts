import { startTestPostgres, startTestRedis } from '../../world/processes/services.js';

export interface BenchServices {
  databaseUrl: string;
  redisUrl: string;
  stop(): Promise<void>;
}

/** Commits are as durable as in production: the measured processes wait for the disk. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', max_connections: 300 };

export async function startBenchServices(): Promise<BenchServices> {
  const [postgres, redis] = await Promise.all([startTestPostgres(DURABLE), startTestRedis()]);
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    async stop() {
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}
