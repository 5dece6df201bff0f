import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../api/app.js';
import type { Deps } from '../../api/deps/deps.js';
import { createHttpServer } from '../../api/process/http-server.js';
import { closeDeps, openDeps } from '../../api/process/open-deps.js';
import { loadConfig } from '../../shared/config/config.js';
import { createLogger } from '../../shared/process/logger.js';
import { testPageAssets } from './page-assets.js';
import { testServices } from './suite.js';

/** The web process's app on the suite's Postgres and Redis, listening on a free port. */
export interface TestApp extends Deps {
  server: Server;
  port: number;
  close(): Promise<void>;
}

/** `log` takes the lines of the app's log. */
export async function openTestApp(
  environment: Record<string, string> = {},
  log?: NodeJS.WritableStream,
): Promise<TestApp> {
  const { databaseUrl, redisUrl } = testServices();
  const config = loadConfig(
    {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      BASE_URL: 'https://pay.example',
      RATE_LIMIT_API_PER_SECOND: '100000',
      RATE_LIMIT_LINK_PER_MINUTE: '1000000',
      CHECK_TOKEN_ACCOUNTS: 'false',
      LOG_LEVEL: 'silent',
      ...environment,
    },
    'web',
  );
  const logger = createLogger(config.logLevel, 'test', log);
  const deps = openDeps(config, logger, await testPageAssets());
  const server = createHttpServer(createApp(deps));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...deps,
    server,
    port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      deps.settlements.close();
      await closeDeps(deps);
    },
  };
}
