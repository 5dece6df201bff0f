import { openAccountReads } from '../../shared/accounts/account-reads.js';
import { openKeyUses } from '../../shared/accounts/key-uses.js';
import { NO_RECENT_WRITES, openRecentWrites } from '../../shared/accounts/recent-writes.js';
import { ASSUME_ACCOUNTS_EXIST, watchPayoutAccounts } from '../../shared/chains/solana/payout-accounts.js';
import type { Config } from '../../shared/config/config.js';
import { openConnectionShares } from '../../shared/db/connection-shares.js';
import { openDatabase } from '../../shared/db/knex.js';
import {
  LARGE_BODIES_BYTES,
  LARGE_BODIES_BYTES_PER_ACCOUNT,
  LONG_ANSWER_BYTES_SENT,
  LONG_ANSWER_BYTES_SENT_TO_ADDRESS,
} from '../../shared/limits/bounds.js';
import { openBudget } from '../../shared/limits/budget.js';
import { lazy } from '../../shared/process/lazy.js';
import type { Logger } from '../../shared/process/logger.js';
import { decisionSubscriber } from '../../shared/queues/decision-notifier.js';
import { deliveryNotifier } from '../../shared/queues/delivery-notifier.js';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { settlementNotifier } from '../../shared/settlement/settlement-notifier.js';
import { openFacilitators } from '../../shared/startup/open-facilitators.js';
import { openStores } from '../../shared/startup/open-stores.js';
import { openLoggedCommitMemory } from '../../shared/startup/watch-installation.js';
import { createRequirePendingRoom } from '../../shared/webhooks/fan-out-size.js';
import { createPaymentReferences } from '../../shared/x402/payment-reference.js';
import { loadPageAssets, type PageAssets } from '../checkout-page/page-assets.js';
import type { Deps } from '../deps/deps.js';
import { ReadinessChecks } from '../deps/readiness-checks.js';
import { REFERENCE_FOLDER } from '../docs/reference-assets.js';
import { openHeavyAnswers } from '../limits/heavy-answers.js';
import { openAddressLimiters, openApiRateLimiter } from '../limits/rate-limiters.js';
import { createImageProxy } from '../merchant-images/image-proxy.js';
import { openWebMetrics } from '../metrics/web-metrics.js';
import { MERCHANT_OPERATIONS } from '../openapi/merchant-paths.js';
import { createReceiptSigner } from '../payment-link/signed-receipts.js';
import { watchSettlements } from '../payment-link/watch-settlements.js';

const PROBE_TIMEOUT_MS = 3000;

export function openDeps(config: Config, logger: Logger, pageAssets: PageAssets = loadPageAssets()): Deps {
  const commits = openLoggedCommitMemory(logger);
  const db = openDatabase(config.database, logger, { commits });
  const connections = openConnectionShares(db, config.database.poolSize);
  const stores = openStores(config, { db, commits }, logger);
  const { replica, redis, breaker, installation, queues } = stores;
  // The name is read early: the queues need it, also while requests have taken all connections.
  void stores.nameInstallation().catch(() => undefined); // Postgres is unavailable: the first use asks again.
  const facilitators = openFacilitators(config.facilitators, 'web', { db, redis, breaker }, logger);
  const solanaTransfers = lazy(async () => {
    const { createSolanaTransfers } = await import('../../shared/chains/solana/solana-transfers.js');
    return createSolanaTransfers(config.rpcUrls);
  });
  const findMissing = lazy(async () => {
    const { createFindMissing } = await import('../../shared/chains/solana/find-missing-accounts.js');
    return createFindMissing(config.rpcUrls);
  });
  return {
    config,
    logger,
    db,
    commits,
    replica,
    connections,
    probeDb: openDatabase(probeSettings(config.database), logger, { readsClock: false }),
    accountReads: openAccountReads(connections, replica),
    recentWrites: replica === undefined ? NO_RECENT_WRITES : openRecentWrites(db, logger),
    installation,
    redis,
    breaker,
    secretBox: createSecretBox(config.encryptionKeys),
    keyUses: openKeyUses(db, logger),
    apiRateLimiter: openApiRateLimiter(config, { db, redis, breaker }),
    requirePendingRoom: createRequirePendingRoom(),
    heavyAnswers: openHeavyAnswers(),
    addressLimiters: openAddressLimiters(config, { db, redis, breaker }),
    largeBodies: openBudget({ total: LARGE_BODIES_BYTES, perHolder: [LARGE_BODIES_BYTES_PER_ACCOUNT] }),
    queues,
    notifyDeliveries: deliveryNotifier(queues, logger),
    notifySettlement: settlementNotifier(queues, logger),
    facilitators,
    payoutAccounts: config.checkTokenAccounts
      ? watchPayoutAccounts(async (network, wallet) => (await findMissing())(network, wallet), logger)
      : ASSUME_ACCOUNTS_EXIST,
    settlements: watchSettlements(db, logger, decisionSubscriber(config.redis, logger)),
    receipts: createReceiptSigner(config.receiptSigningKeys, config.baseUrl),
    references: createPaymentReferences(config.encryptionKeys),
    metrics: openWebMetrics(
      { config, db, replica, queues, logger, commits, installation, facilitators },
      MERCHANT_OPERATIONS,
    ),
    lifecycle: { isStopping: false, readinessChecks: new ReadinessChecks() },
    solanaTransfers,
    chains: lazy(async () => {
      const { createChains } = await import('../../shared/chains/chains.js');
      return createChains(config.rpcUrls, { confirmations: config.confirmations });
    }),
    readBalances: lazy(async () => {
      const { createReadBalances } = await import('../../shared/chains/wallet-balances.js');
      return createReadBalances(config.rpcUrls, await solanaTransfers());
    }),
    pageAssets,
    referenceFolder: REFERENCE_FOLDER,
    images: createImageProxy({ allowPrivateNetworks: config.allowPrivateWebhooks }),
    longAnswers: openBudget({
      total: LONG_ANSWER_BYTES_SENT,
      perHolder: [LONG_ANSWER_BYTES_SENT_TO_ADDRESS],
    }),
  };
}

export async function closeDeps(deps: Deps): Promise<void> {
  const { db, replica, redis, breaker, queues, facilitators, payoutAccounts, images, keyUses } = deps;
  payoutAccounts.close();
  await deps.installation.close();
  breaker?.close();
  await keyUses.close();
  await queues.close();
  await facilitators.close();
  await images.close();
  redis?.disconnect();
  await replica?.close();
  await deps.probeDb.destroy();
  await db.destroy();
}

/** A probe whose only connection is dead must open another one before it calls the process unready. */
function probeSettings(database: Config['database']): Config['database'] {
  const queryTimeoutMs = Math.min(database.queryTimeoutMs, PROBE_TIMEOUT_MS);
  return { ...database, poolSize: 1, queryTimeoutMs };
}
