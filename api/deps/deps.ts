import type { AccountReads } from '../../shared/accounts/account-reads.js';
import type { KeyUses } from '../../shared/accounts/key-uses.js';
import type { RecentWrites } from '../../shared/accounts/recent-writes.js';
import type { Chains } from '../../shared/chains/chains.js';
import type { PayoutAccounts } from '../../shared/chains/solana/payout-accounts.js';
import type { SolanaTransfers } from '../../shared/chains/solana/solana-transfers.js';
import type { ReadBalances } from '../../shared/chains/wallet-balances.js';
import type { Config } from '../../shared/config/config.js';
import type { CommitMemory } from '../../shared/db/commit-memory.js';
import type { ConnectionShares } from '../../shared/db/connection-shares.js';
import type { Knex } from '../../shared/db/knex.js';
import type { Replica } from '../../shared/db/replica.js';
import type { Breaker } from '../../shared/limits/breaker.js';
import type { Budget } from '../../shared/limits/budget.js';
import type { Logger } from '../../shared/process/logger.js';
import type { RedisClient } from '../../shared/queues/connection.js';
import type { NotifyDeliveries } from '../../shared/queues/delivery-notifier.js';
import type { Queues } from '../../shared/queues/enqueue.js';
import type { SecretBox } from '../../shared/secrets/secrets.js';
import type { NotifySettlement } from '../../shared/settlement/settlement-notifier.js';
import type { InstallationWatch } from '../../shared/startup/watch-installation.js';
import type { RequirePendingRoom } from '../../shared/webhooks/fan-out-size.js';
import type { Facilitators } from '../../shared/x402/facilitator/facilitators.js';
import type { PaymentReferences } from '../../shared/x402/payment-reference.js';
import type { PageAssets } from '../checkout-page/page-assets.js';
import type { HeavyAnswers } from '../limits/heavy-answers.js';
import type { AccountLimiter, AddressLimiters } from '../limits/rate-limiters.js';
import type { ImageProxy } from '../merchant-images/image-proxy.js';
import type { WebMetrics } from '../metrics/web-metrics.js';
import type { ReceiptSigner } from '../payment-link/signed-receipts.js';
import type { SettlementWatch } from '../payment-link/watch-settlements.js';
import type { ReadinessChecks } from './readiness-checks.js';

/** The dependencies of a web process, passed to routes explicitly. */
export interface Deps {
  config: Config;
  logger: Logger;
  /** Connections for statements that belong to no account, or to several. */
  db: Knex;
  /** Connections for the requests of an account: its share of the connections of `db`. */
  connections: ConnectionShares;
  /** A connection of its own, so that readiness does not depend on how busy `db` is. */
  probeDb: Knex;
  /** How far Postgres had written. A refusal is doubtful while commits may have been lost. */
  commits: CommitMemory;
  replica: Replica | undefined;
  /** Reads for lists and retrievals, from a replica if there is one. */
  accountReads: AccountReads;
  recentWrites: RecentWrites;
  installation: InstallationWatch;
  redis: RedisClient | undefined;
  /** Guards `redis` for requests. */
  breaker: Breaker | undefined;
  secretBox: SecretBox;
  keyUses: KeyUses;
  apiRateLimiter: AccountLimiter;
  /** Refuses resends while too many deliveries of the account are pending. */
  requirePendingRoom: RequirePendingRoom;
  heavyAnswers: HeavyAnswers;
  addressLimiters: AddressLimiters;
  /** Bytes of large request bodies, by account, until their answers are sent. */
  largeBodies: Budget;
  queues: Queues;
  notifyDeliveries: NotifyDeliveries;
  notifySettlement: NotifySettlement;
  facilitators: Facilitators;
  payoutAccounts: PayoutAccounts;
  chains: () => Promise<Pick<Chains, 'check'>>;
  settlements: SettlementWatch;
  receipts: ReceiptSigner;
  references: PaymentReferences;
  metrics: WebMetrics;
  lifecycle: Lifecycle;
  solanaTransfers: () => Promise<SolanaTransfers>;
  readBalances: () => Promise<ReadBalances>;
  pageAssets: PageAssets;
  /** The build's output for the API reference: script and style sheet. */
  referenceFolder: string;
  images: ImageProxy;
  /** Bytes of links' long answers, by address, while they are sent. */
  longAnswers: Budget;
}

interface Lifecycle {
  /** True once the process was told to stop. */
  isStopping: boolean;
  readinessChecks: ReadinessChecks;
}
