import type { PaymentRequirements } from '../../shared/x402/wire.js';
import type { FailureCause } from './words/causes.js';
import type { ScriptWords } from './words/script-words.js';

/** Data for the script of the page, as JSON in one attribute. */
export interface PageData {
  sessionId: string;
  livemode: boolean;
  /** The URL path of the link. */
  path: string;
  language: string;
  /** Unix seconds, like the other times. */
  now: number;
  created: number;
  expiresAt: number;
  /** Empty when the session cannot be paid now. */
  entries: PayableEntry[];
  /**
   * Nonces for the next payments on EVM networks, each for one payment: a transfer then names its session. Empty when no
   * entry is on an EVM network, missing in older releases.
   */
  nonces?: `0x${string}`[];
  /** Redirect target after the payment. */
  successUrl: string | null;
  words: ScriptWords;
}

/** An entry of `accepts` with display data. */
export interface PayableEntry {
  accepted: PaymentRequirements;
  family: 'evm' | 'svm';
  token: string;
  decimals: number;
  networkName: string;
  /** Rank of its network; the cheapest and fastest is 0. */
  rank: number;
  /** `4.50 USDC`, in the page's language. */
  amount: string;
  /** EVM only: its id as wallets want it. */
  chain?: Pick<WalletChain, 'chainId'>;
  /** Solana only: the name of the network in Wallet Standard. */
  walletChain?: 'solana:mainnet' | 'solana:devnet';
}

/** The parameter of `wallet_addEthereumChain` (EIP-3085). */
export interface WalletChain {
  chainId: string;
  chainName: string;
  nativeCurrency: { name: string; symbol: string; decimals: number };
  rpcUrls: string[];
  blockExplorerUrls: string[];
}

/** Response of `/assets/wallet-chains.json`, by chain id. */
export type WalletChains = Record<string, WalletChain>;

/** Response of `/c/{id}/status`. */
export interface LinkStatus {
  status: string;
  payment_status: string;
  /** Changes when the page would show something else. */
  revision: string;
  now: number;
  expires_at: number;
}

/** Response of `/c/{id}/transaction`. */
export interface TransactionOffer {
  network: string;
  asset: string;
  /** The unsigned transaction in base64; null when the payer cannot pay with it. */
  transaction: string | null;
  /** Balances of the payer in each token of this link on this network, in smallest units. */
  balances: Record<string, string>;
}

/** Response of `/c/{id}/balances`: one balance for each entry of the address's chain family. */
export interface LinkBalances {
  balances: {
    network: string;
    asset: string;
    /** Balance in the token's smallest unit; null when the network did not answer in time. */
    balance: string | null;
  }[];
}

/**
 * Response of `/c/{id}/pay`. `taken`: the service has this payment. `others`: another payment holds or paid the
 * session and this one was not used. `over`: the session has expired. `again`: nothing happened, the same payment
 * may be sent again.
 */
export interface PayOutcome {
  outcome: 'taken' | 'others' | 'over' | 'failed' | 'again';
  code?: string;
  /** The cause that the page tells for the code. Missing in older releases. */
  cause?: FailureCause;
  /** A payment may have been taken. Without it, `failed` says that this payment took no money. */
  uncertain?: true;
  /** The id of that payment, unless the service has no row of it. */
  payment?: string;
  /** Seconds. */
  retry_after?: number;
}
