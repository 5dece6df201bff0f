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
