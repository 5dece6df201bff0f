import { createdSeconds, unixSeconds, unixSecondsOrNull } from '../wire/timestamp.js';
import type { Account, ApiKey, FacilitatorKey, OperatorAction } from './model.js';

export function presentAccount(account: Account): object {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    payout_wallets: presentPayoutWallets(account),
    logo_url: account.logoUrl,
    brand_color: account.brandColor,
    support_email: account.supportEmail,
    disabled_at: unixSecondsOrNull(account.disabledAt),
    created: createdSeconds(account.id),
  };
}

function presentPayoutWallets(account: Account): object {
  return { evm: account.evmWallet, solana: account.solanaWallet };
}

export function presentNewApiKey(key: ApiKey, secret: string, account: Account): object {
  return {
    object: 'api_key',
    id: key.id,
    name: key.name,
    livemode: key.livemode,
    access: key.access,
    secret,
    payout_wallets: presentPayoutWallets(account),
    created: createdSeconds(key.id),
  };
}

/** Presents a key to its merchant, without the secret. */
export function presentAccountKey(key: ApiKey, account: Account): object {
  return {
    object: 'api_key',
    id: key.id,
    name: key.name,
    livemode: key.livemode,
    access: key.access,
    payout_wallets: presentPayoutWallets(account),
    created: createdSeconds(key.id),
    last_used: unixSecondsOrNull(key.lastUsedAt),
    facilitator_key: key.facilitatorKeyId,
  };
}

export function presentDeletedApiKey(id: string): object {
  return { id, object: 'api_key', deleted: true };
}

/** Presents a key to the operator, without the secret. */
export function presentApiKey(key: ApiKey): object {
  return {
    object: 'api_key',
    id: key.id,
    account: key.accountId,
    name: key.name,
    livemode: key.livemode,
    access: key.access,
    facilitator_key: key.facilitatorKeyId,
    revoked_at: unixSecondsOrNull(key.revokedAt),
    suspended: key.suspended,
    created: createdSeconds(key.id),
  };
}

export function presentFacilitatorKey(key: Pick<FacilitatorKey, 'accountId' | 'keyId'>): object {
  return { object: 'facilitator_key', key_id: key.keyId, account: key.accountId };
}

export function presentOperatorAction(action: OperatorAction): object {
  return {
    object: 'operator_action',
    id: action.id,
    who: action.who,
    what: action.what,
    about: action.about,
    arguments: action.arguments,
    created: unixSeconds(action.at),
  };
}
