import type { Cause } from '../../../api/checkout-page/words/causes.js';

interface WalletErrorRow {
  wallet: string;
  thrown: unknown;
  step: 'connecting' | 'switching' | 'signing';
  /** Undefined when the error says nothing useful. */
  cause: Cause | undefined;
}

/** Errors of wallets, as reported by their users. */
export const WALLET_ERRORS: readonly WalletErrorRow[] = [
  {
    wallet: 'MetaMask',
    thrown: { code: 4001, message: 'MetaMask Tx Signature: User denied message signature.' },
    step: 'signing',
    cause: 'declined',
  },
  {
    wallet: 'Rabby',
    thrown: { code: 4001, message: 'User rejected the request.' },
    step: 'connecting',
    cause: 'declined',
  },
  {
    wallet: 'Coinbase Wallet',
    thrown: { code: 4001, message: 'User denied account authorization' },
    step: 'connecting',
    cause: 'declined',
  },
  {
    wallet: 'Phantom',
    thrown: { code: 4001, message: 'User rejected the request.' },
    step: 'signing',
    cause: 'declined',
  },
  { wallet: 'Solflare', thrown: { message: 'Transaction cancelled' }, step: 'signing', cause: 'declined' },
  { wallet: 'Backpack', thrown: { message: 'Approval Denied' }, step: 'signing', cause: 'declined' },
  { wallet: 'Backpack', thrown: { message: 'Plugin Closed' }, step: 'connecting', cause: 'declined' },
  { wallet: 'ethers', thrown: { code: 'ACTION_REJECTED' }, step: 'signing', cause: 'declined' },
  {
    wallet: 'MetaMask',
    thrown: {
      code: -32002,
      message: "Request of type 'wallet_requestPermissions' already pending for origin. Please wait.",
    },
    step: 'connecting',
    cause: 'walletPending',
  },
  {
    wallet: 'MetaMask',
    thrown: { code: -32603, message: 'Already processing eth_requestAccounts. Please wait.' },
    step: 'connecting',
    cause: 'walletPending',
  },
  {
    wallet: 'MetaMask',
    thrown: {
      code: 4100,
      message: 'The requested account and/or method has not been authorized by the user.',
    },
    step: 'signing',
    cause: 'walletNotAllowed',
  },
  {
    wallet: 'a wallet without typed data',
    thrown: { code: 4200, message: 'The Provider does not support the requested method.' },
    step: 'signing',
    cause: 'walletNoTyped',
  },
  {
    wallet: 'a wallet with a single network',
    thrown: { code: -32601, message: 'The method does not exist / is not available.' },
    step: 'switching',
    cause: 'walletNoNetwork',
  },
  {
    wallet: 'a wallet with another connect method',
    thrown: { code: 4200, message: 'Unsupported' },
    step: 'connecting',
    cause: 'walletNoMethod',
  },
  {
    wallet: 'Coinbase Wallet',
    thrown: { code: 4902, message: 'Unrecognized chain ID' },
    step: 'switching',
    cause: 'walletNoNetwork',
  },
  {
    wallet: 'MetaMask on a phone',
    thrown: { code: -32603, message: 'Internal JSON-RPC error.', data: { originalError: { code: 4902 } } },
    step: 'switching',
    cause: 'walletNoNetwork',
  },
  {
    wallet: 'a Ledger behind MetaMask',
    thrown: { code: -32603, message: 'Ledger device: Locked device (0x5515)' },
    step: 'signing',
    cause: 'walletLocked',
  },
  {
    wallet: 'a Ledger behind MetaMask',
    thrown: { code: -32603, message: 'Ledger: Please enable Blind signing or Contract data' },
    step: 'signing',
    cause: 'walletNoTyped',
  },
  {
    wallet: 'a Trezor behind Rabby',
    thrown: { message: 'EIP-712 Domain Name is required by this device' },
    step: 'signing',
    cause: 'walletNoTyped',
  },
  {
    wallet: 'Trust Wallet',
    thrown: { message: 'Wallet is locked' },
    step: 'connecting',
    cause: 'walletLocked',
  },
  {
    wallet: 'MetaMask',
    thrown: { code: 4900, message: 'The Provider is disconnected from all chains.' },
    step: 'signing',
    cause: 'walletOffline',
  },
  {
    wallet: 'Rabby',
    thrown: { code: 4901, message: 'The Provider is not connected to the requested chain.' },
    step: 'switching',
    cause: 'walletOffline',
  },
  {
    wallet: 'Wallet Standard',
    thrown: new Error('Unexpected error', { cause: { code: 4001 } }),
    step: 'signing',
    cause: 'declined',
  },
  {
    wallet: 'MetaMask',
    thrown: { code: -32603, message: 'Internal JSON-RPC error.' },
    step: 'signing',
    cause: undefined,
  },
  { wallet: 'a wallet that throws nothing', thrown: undefined, step: 'signing', cause: undefined },
  { wallet: 'a wallet that throws a string', thrown: 'no', step: 'signing', cause: undefined },
];
