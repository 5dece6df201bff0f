import type { Cause } from '../../../api/checkout-page/words/causes.js';

type Step = 'connecting' | 'switching' | 'signing';
type Reported = readonly [wallet: string, thrown: unknown];

/** Errors of wallets, as reported by their users: by step, and by cause, which is unknown when the error says nothing useful. */
const REPORTED: Record<Step, Partial<Record<Cause | 'unknown', readonly Reported[]>>> = {
  connecting: {
    declined: [
      ['Rabby', { code: 4001, message: 'User rejected the request.' }],
      ['Coinbase Wallet', { code: 4001, message: 'User denied account authorization' }],
      ['Backpack', { message: 'Plugin Closed' }],
    ],
    walletPending: [
      [
        'MetaMask',
        {
          code: -32002,
          message: "Request of type 'wallet_requestPermissions' already pending for origin. Please wait.",
        },
      ],
      ['MetaMask', { code: -32603, message: 'Already processing eth_requestAccounts. Please wait.' }],
    ],
    walletNoMethod: [['a wallet with another connect method', { code: 4200, message: 'Unsupported' }]],
    walletLocked: [['Trust Wallet', { message: 'Wallet is locked' }]],
  },
  switching: {
    walletNoNetwork: [
      [
        'a wallet with a single network',
        { code: -32601, message: 'The method does not exist / is not available.' },
      ],
      ['Coinbase Wallet', { code: 4902, message: 'Unrecognized chain ID' }],
      [
        'MetaMask on a phone',
        { code: -32603, message: 'Internal JSON-RPC error.', data: { originalError: { code: 4902 } } },
      ],
    ],
    walletOffline: [
      ['Rabby', { code: 4901, message: 'The Provider is not connected to the requested chain.' }],
    ],
  },
  signing: {
    declined: [
      ['MetaMask', { code: 4001, message: 'MetaMask Tx Signature: User denied message signature.' }],
      ['Phantom', { code: 4001, message: 'User rejected the request.' }],
      ['Solflare', { message: 'Transaction cancelled' }],
      ['Backpack', { message: 'Approval Denied' }],
      ['ethers', { code: 'ACTION_REJECTED' }],
      ['Wallet Standard', new Error('Unexpected error', { cause: { code: 4001 } })],
    ],
    walletNotAllowed: [
      [
        'MetaMask',
        { code: 4100, message: 'The requested account and/or method has not been authorized by the user.' },
      ],
    ],
    walletNoTyped: [
      [
        'a wallet without typed data',
        { code: 4200, message: 'The Provider does not support the requested method.' },
      ],
      [
        'a Ledger behind MetaMask',
        { code: -32603, message: 'Ledger: Please enable Blind signing or Contract data' },
      ],
      ['a Trezor behind Rabby', { message: 'EIP-712 Domain Name is required by this device' }],
    ],
    walletLocked: [
      ['a Ledger behind MetaMask', { code: -32603, message: 'Ledger device: Locked device (0x5515)' }],
    ],
    walletOffline: [['MetaMask', { code: 4900, message: 'The Provider is disconnected from all chains.' }]],
    unknown: [
      ['MetaMask', { code: -32603, message: 'Internal JSON-RPC error.' }],
      ['a wallet that throws nothing', undefined],
      ['a wallet that throws a string', 'no'],
    ],
  },
};

export const WALLET_ERRORS = Object.entries(REPORTED).flatMap(([step, byCause]) =>
  Object.entries(byCause).flatMap(([cause, errors]) =>
    errors.map(([wallet, thrown]) => ({
      wallet,
      thrown,
      step: step as Step,
      cause: cause === 'unknown' ? undefined : (cause as Cause),
    })),
  ),
);
