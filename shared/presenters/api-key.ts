import type { Account } from '../models/account.js';
import type { ApiKey } from '../models/api-key.js';
import { presentPayoutWallets } from './account.js';
import { createdSeconds, unixSeconds } from './timestamp.js';

export function presentNewApiKey(key: ApiKey, secret: string, account: Account): object {
  return {
    object: 'api_key',
    id: key.id,
    name: key.name,
    livemode: key.livemode,
    secret,
    payout_wallets: presentPayoutWallets(account),
    created: createdSeconds(key.id),
  };
}

/** For the merchant, who never sees the secret again. */
export function presentOwnApiKey(key: ApiKey, account: Account): object {
  return {
    object: 'api_key',
    id: key.id,
    name: key.name,
    livemode: key.livemode,
    payout_wallets: presentPayoutWallets(account),
    created: createdSeconds(key.id),
    last_used: key.lastUsedAt === null ? null : unixSeconds(key.lastUsedAt),
    facilitator_key: key.facilitatorKeyId,
  };
}

export function presentDeletedApiKey(id: string): object {
  return { id, object: 'api_key', deleted: true };
}

/** For the operator, who never sees the secret again. */
export function presentApiKey(key: ApiKey): object {
  return {
    object: 'api_key',
    id: key.id,
    account: key.accountId,
    name: key.name,
    livemode: key.livemode,
    facilitator_key: key.facilitatorKeyId,
    revoked_at: key.revokedAt === null ? null : unixSeconds(key.revokedAt),
    created: createdSeconds(key.id),
  };
}
