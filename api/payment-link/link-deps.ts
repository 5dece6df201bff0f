import type { Chains } from '../../shared/chains/chains.js';
import type { PayoutAccounts } from '../../shared/chains/solana/payout-accounts.js';
import type { Config } from '../../shared/config/config.js';
import type { CommitMemory } from '../../shared/db/commit-memory.js';
import type { Knex } from '../../shared/db/knex.js';
import type { Logger } from '../../shared/process/logger.js';
import type { NotifyDeliveries } from '../../shared/queues/delivery-notifier.js';
import type { NotifySettlement } from '../../shared/settlement/settlement-notifier.js';
import type { Facilitators } from '../../shared/x402/facilitator/facilitators.js';
import type { PaymentReferences } from '../../shared/x402/payment-reference.js';
import type { ReceiptSigner } from './signed-receipts.js';
import type { SettlementWatch } from './watch-settlements.js';

/** The subset of `Deps` that payment links use. */
export interface LinkDeps {
  config: Pick<Config, 'baseUrl' | 'settleWaitMs'>;
  db: Knex;
  logger: Logger;
  facilitators: Facilitators;
  payoutAccounts: PayoutAccounts;
  chains: () => Promise<Pick<Chains, 'check'>>;
  commits: Pick<CommitMemory, 'mayHaveLost'>;
  receipts: ReceiptSigner;
  references: PaymentReferences;
  notifySettlement: NotifySettlement;
  notifyDeliveries: NotifyDeliveries;
  settlements: SettlementWatch;
}
