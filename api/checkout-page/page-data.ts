import type { PaymentRequirements } from '../../shared/x402/wire.js';
import type { ScriptWords } from './words/script-words.js';

/** What the document tells its script, as JSON in one attribute. */
export interface PageData {
  sessionId: string;
  livemode: boolean;
  /** The path of the link. */
  path: string;
  language: string;
  /** Unix seconds, like the other times. */
  now: number;
  created: number;
  expiresAt: number;
  /** Empty unless the session can be paid now. */
  entries: PayableEntry[];
  /** Where to go when it is paid. */
  successUrl: string | null;
  words: ScriptWords;
}

/** An entry of `accepts` with what people need to know of it. */
export interface PayableEntry {
  accepted: PaymentRequirements;
  family: 'evm' | 'svm';
  token: string;
  decimals: number;
  networkName: string;
  /** Its network's place, the cheapest and fastest first. */
  rank: number;
  /** `4.50 USDC`, in the page's language. */
  amount: string;
  /** EVM only: what a wallet must be told to add the network. */
  chain?: WalletChain;
  /** Solana only: the name by which wallets know the network. */
  walletChain?: 'solana:mainnet' | 'solana:devnet';
}

/** The parameter of `wallet_addEthereumChain`. */
export interface WalletChain {
  chainId: string;
  chainName: string;
  nativeCurrency: { name: string; symbol: string; decimals: number };
  rpcUrls: string[];
  blockExplorerUrls: string[];
}

/** What `/c/{id}/status` answers. */
export interface LinkStatus {
  status: string;
  payment_status: string;
  /** Changes whenever the page would show something else. */
  revision: string;
  now: number;
  expires_at: number;
}

/** What `/c/{id}/transaction` answers. */
export interface TransactionOffer {
  network: string;
  asset: string;
  /** Unsigned, base64; null when the payer cannot pay with it. */
  transaction: string | null;
  /** What the payer holds of each of this link's tokens on this network, in the token's smallest unit. */
  balances: Record<string, string>;
}

/** What `/c/{id}/balances` answers: one for each entry of the address' family. */
export interface LinkBalances {
  balances: {
    network: string;
    asset: string;
    /** In the token's smallest unit; null when the network did not answer in time. */
    balance: string | null;
  }[];
}

/**
 * What `/c/{id}/pay` answers. `taken`: the service has this payment. `others`: someone else's payment holds or paid
 * the session, this one was not used. `again`: nothing happened, the same may be sent again.
 */
export interface PayOutcome {
  outcome: 'taken' | 'others' | 'over' | 'failed' | 'again';
  code?: string;
  /** Seconds. */
  retry_after?: number;
}
