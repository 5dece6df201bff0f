import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Config, usesDevelopmentKey } from '../../shared/config/config.js';
import { followClock } from '../../shared/db/follow-clock.js';
import { warnAboutPooler } from '../../shared/db/warn-about-pooler.js';
import { listen } from '../../shared/process/listen.js';
import type { Logger } from '../../shared/process/logger.js';
import { type Closable, closeWithin } from '../../shared/process/shutdown.js';
import { warnIfRedisMayEvict } from '../../shared/queues/connection.js';
import { loadBullMq } from '../../shared/queues/enqueue.js';
import { warnIfNotMigrated } from '../../shared/schema/warn-if-not-migrated.js';
import { firstContact } from '../../shared/startup/first-contact.js';
import { warnAboutRiskySettings } from '../../shared/startup/risky-settings.js';
import { startTracing } from '../../shared/tracing/start.js';
import { createApp } from '../app.js';
import type { Deps } from '../deps/deps.js';
import { loadPay } from '../payment-link/load-pay.js';
import { handOver } from './hand-over.js';
import { createHttpServer, drain, trackInFlight } from './http-server.js';
import { closeDeps, openDeps } from './open-deps.js';

/** How long requests in flight may take when the process stops. */
const DRAIN_MS = 20_000;
/**
 * How long connections to the stores may take to close. Both together are less than the 30 s that platforms give a
 * stopping process.
 */
const CLOSE_MS = 3000;
const WARM_UP_AFTER_MS = 500;
const REFUSALS_LOGGED_EVERY_MS = 60_000;

export interface WebProcess extends Closable {
  port: number;
}

export async function startWeb(
  config: Config,
  logger: Logger,
  { drainMs, closeMs } = { drainMs: DRAIN_MS, closeMs: CLOSE_MS },
): Promise<WebProcess> {
  const tracing = await startTracing(config, 'checkout-web', logger);
  const deps = openDeps(config, logger);
  await firstContact(deps).catch(async (error: unknown) => {
    await closeWithin(closeMs, closeDeps(deps), logger);
    throw error;
  });
  if (deps.redis !== undefined) warnIfRedisMayEvict(deps.redis, logger);
  warnAbout(deps);
  warnAboutRiskySettings(config, logger);
  void warnIfNotMigrated(deps.db, logger);
  if (config.redis === undefined) void warnAboutPooler(deps.db, logger);
  const app = createApp(deps);
  const server = createHttpServer(app);
  const inFlight = trackInFlight(server);
  logRefusedConnections(server, logger);
  await listen(server, { port: config.port, host: config.host, variable: 'PORT' });
  const { port } = server.address() as AddressInfo;
  logger.info({ event: 'web.listening', port });
  const warming = setTimeout(warmUp, WARM_UP_AFTER_MS, logger);
  const clock = followClock(deps.db, logger);
  deps.installation.start();
  return {
    port,
    async close() {
      clearTimeout(warming);
      deps.lifecycle.isStopping = true;
      // Payments that wait for their outcome are answered 202; the workers finish them.
      deps.settlements.close();
      await drain(server, inFlight, {
        handedOver: handOver(deps.lifecycle.readinessChecks.balancers()),
        timeoutMs: drainMs,
      });
      const closed = Promise.all([clock.close(), closeDeps(deps), tracing.close()]).then(() => undefined);
      await closeWithin(closeMs, closed, logger);
    },
  };
}

/**
 * Loads the modules of the first payment shortly after the start, so that neither the start nor the payment waits for them.
 */
function warmUp(logger: Logger): void {
  Promise.all([loadPay(), loadBullMq()]).catch((error: unknown) => {
    logger.error({ event: 'web.not_warm', err: error });
  });
}

function warnAbout({ config, logger, pageAssets }: Deps): void {
  if (pageAssets.script === undefined) {
    logger.warn({
      event: 'page.not_bundled',
      hint: 'The payment page has neither script nor style: npm run build makes them.',
    });
  }
  if (usesDevelopmentKey(config)) {
    logger.warn({
      event: 'config.development_key',
      hint: 'ENCRYPTION_KEY is not set: secrets are encrypted with a key that everyone knows.',
    });
  }
  if (config.production && config.redis === undefined) {
    logger.warn({
      event: 'config.no_redis',
      hint: 'REDIS_URL is not set: the queue lives in Postgres, which is good for one machine.',
    });
  }
}

/** Logs at most one line a minute: a flood of connections must not become one of lines. */
function logRefusedConnections(server: Server, logger: Logger): void {
  let refused = 0;
  let silentUntil = 0;
  server.on('drop', () => {
    refused += 1;
    if (performance.now() < silentUntil) return;
    silentUntil = performance.now() + REFUSALS_LOGGED_EVERY_MS;
    logger.warn({ event: 'web.connections_refused', count: refused });
    refused = 0;
  });
}
