import type { Cause } from '../../../api/checkout-page/words/causes.js';

interface WalletErrorRow {
  wallet: string;
  says: unknown;
  step: 'connecting' | 'switching' | 'signing';
  /** Undefined: nothing that a buyer could be told. */
  cause: Cause | undefined;
}

/** What wallets throw, as their users have reported it. */
export const WALLET_ERRORS: readonly WalletErrorRow[] = [
  {
    wallet: 'MetaMask',
    says: { code: 4001, message: 'MetaMask Tx Signature: User denied message signature.' },
    step: 'signing',
    cause: 'declined',
  },
  {
    wallet: 'Rabby',
    says: { code: 4001, message: 'User rejected the request.' },
    step: 'connecting',
    cause: 'declined',
  },
  {
    wallet: 'Coinbase Wallet',
    says: { code: 4001, message: 'User denied account authorization' },
    step: 'connecting',
    cause: 'declined',
  },
  {
    wallet: 'Phantom',
    says: { code: 4001, message: 'User rejected the request.' },
    step: 'signing',
    cause: 'declined',
  },
  { wallet: 'Solflare', says: { message: 'Transaction cancelled' }, step: 'signing', cause: 'declined' },
  { wallet: 'Backpack', says: { message: 'Approval Denied' }, step: 'signing', cause: 'declined' },
  { wallet: 'Backpack', says: { message: 'Plugin Closed' }, step: 'connecting', cause: 'declined' },
  { wallet: 'ethers', says: { code: 'ACTION_REJECTED' }, step: 'signing', cause: 'declined' },
  {
    wallet: 'MetaMask',
    says: {
      code: -32002,
      message: "Request of type 'wallet_requestPermissions' already pending for origin. Please wait.",
    },
    step: 'connecting',
    cause: 'walletPending',
  },
  {
    wallet: 'MetaMask',
    says: { code: -32603, message: 'Already processing eth_requestAccounts. Please wait.' },
    step: 'connecting',
    cause: 'walletPending',
  },
  {
    wallet: 'MetaMask',
    says: { code: 4100, message: 'The requested account and/or method has not been authorized by the user.' },
    step: 'signing',
    cause: 'walletNotAllowed',
  },
  {
    wallet: 'a wallet without typed data',
    says: { code: 4200, message: 'The Provider does not support the requested method.' },
    step: 'signing',
    cause: 'walletNoTyped',
  },
  {
    wallet: 'a wallet of one network',
    says: { code: -32601, message: 'The method does not exist / is not available.' },
    step: 'switching',
    cause: 'walletNoNetwork',
  },
  {
    wallet: 'a wallet that connects otherwise',
    says: { code: 4200, message: 'Unsupported' },
    step: 'connecting',
    cause: 'walletNoMethod',
  },
  {
    wallet: 'Coinbase Wallet',
    says: { code: 4902, message: 'Unrecognized chain ID' },
    step: 'switching',
    cause: 'walletNoNetwork',
  },
  {
    wallet: 'MetaMask on a phone',
    says: { code: -32603, message: 'Internal JSON-RPC error.', data: { originalError: { code: 4902 } } },
    step: 'switching',
    cause: 'walletNoNetwork',
  },
  {
    wallet: 'a Ledger behind MetaMask',
    says: { code: -32603, message: 'Ledger device: Locked device (0x5515)' },
    step: 'signing',
    cause: 'walletLocked',
  },
  {
    wallet: 'a Ledger behind MetaMask',
    says: { code: -32603, message: 'Ledger: Please enable Blind signing or Contract data' },
    step: 'signing',
    cause: 'walletNoTyped',
  },
  {
    wallet: 'a Trezor behind Rabby',
    says: { message: 'EIP-712 Domain Name is required by this device' },
    step: 'signing',
    cause: 'walletNoTyped',
  },
  {
    wallet: 'Trust Wallet',
    says: { message: 'Wallet is locked' },
    step: 'connecting',
    cause: 'walletLocked',
  },
  {
    wallet: 'MetaMask',
    says: { code: 4900, message: 'The Provider is disconnected from all chains.' },
    step: 'signing',
    cause: 'walletOffline',
  },
  {
    wallet: 'Rabby',
    says: { code: 4901, message: 'The Provider is not connected to the requested chain.' },
    step: 'switching',
    cause: 'walletOffline',
  },
  {
    wallet: 'Wallet Standard',
    says: new Error('Unexpected error', { cause: { code: 4001 } }),
    step: 'signing',
    cause: 'declined',
  },
  {
    wallet: 'MetaMask',
    says: { code: -32603, message: 'Internal JSON-RPC error.' },
    step: 'signing',
    cause: undefined,
  },
  { wallet: 'a wallet that throws nothing', says: undefined, step: 'signing', cause: undefined },
  { wallet: 'a wallet that throws a word', says: 'no', step: 'signing', cause: undefined },
];
