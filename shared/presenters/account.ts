import type { Account } from '../models/account.js';
import { createdSeconds } from './timestamp.js';

export function presentAccount(account: Account): object {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    payout_wallets: presentPayoutWallets(account),
    logo_url: account.logoUrl,
    brand_color: account.brandColor,
    support_email: account.supportEmail,
    created: createdSeconds(account.id),
  };
}

export function presentPayoutWallets(account: Account): object {
  return { evm: account.evmWallet, solana: account.solanaWallet };
}
