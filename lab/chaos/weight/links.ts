import { randomBytes } from 'node:crypto';
import { newKeypair } from '../wallets/wallets.js';
import { type HeavyOperation, post, stranger } from './heavy-operation.js';
import { hostileImage, pick, SESSIONS } from './shop.js';

const PAYER = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const TRANSACTION = JSON.stringify({ payer: PAYER, asset: MINT });
const IMAGES = 800;
const HTML = { headers: { Accept: 'text/html' } };
/** The length of the longest path; base58 of it is slow to read. */
const LONG_ADDRESS = 'z'.repeat(30_000);
const LONG_PAYMENT = Buffer.from(JSON.stringify({ x402Version: 2, payload: 'x'.repeat(12_000) })).toString(
  'base64',
);

/** Loads of strangers at links, each with the limits of one address. */
export const LINKS: readonly HeavyOperation[] = [
  each('links of full sessions', 20, ['RATE_LIMIT_LINK_PER_MINUTE'], (n) => ({ path: `/c/${pick(n)}` })),
  each(
    'pages of full sessions',
    10,
    ['LONG_ANSWER_BYTES_SENT', 'LONG_ANSWER_BYTES_SENT_TO_ADDRESS', 'SENT_WITHIN_MS'],
    (n) => ({
      path: `/c/${pick(n)}`,
      ...HTML,
    }),
  ),
  each(
    'slow images from 70 hosts',
    200,
    [
      'MAX_IMAGE_FETCHES',
      'MAX_IMAGE_FETCHES_OF_ACCOUNT',
      'MAX_IMAGES_WAITING',
      'MAX_IMAGES_WAITING_OF_ACCOUNT',
      'IMAGE_BYTES_IN_FLIGHT',
      'IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT',
      'IMAGE_BYTES_SENT',
      'IMAGE_BYTES_SENT_OF_ACCOUNT',
      'IMAGE_BYTES_SENT_TO_ADDRESS',
      'MAX_IMAGE_BYTES',
      'IMAGE_WITHIN_MS',
    ],
    (n) => ({ path: `/c/${pick(n)}/images/${n % IMAGES}`, slowly: n % 2 === 1 }),
  ),
  each(
    'images of hostile hosts',
    50,
    ['MAX_IMAGE_FETCHES_OF_HOST', 'MAX_IMAGE_FETCHES_OF_ACCOUNT_AT_HOST', 'MAX_ANSWER_PIECES'],
    (n) => ({ path: hostileImage(n) }),
  ),
  each('payments that cannot be read', 20, [], (n) => ({
    path: `/c/${pick(n)}`,
    headers: { 'PAYMENT-SIGNATURE': LONG_PAYMENT },
  })),
  each('addresses of 30,000 characters', 20, [], (n) => ({
    path: `/c/${pick(n)}/balances?address=${LONG_ADDRESS}`,
  })),
  each('balances of wallets', 20, ['BALANCES_SHARE_OF_ADDRESS', 'MAX_PAGE_RPC_CALLS'], (n) => ({
    path: `/c/${pick(n)}/balances?address=${newKeypair().publicKey.toBase58()}`,
  })),
  each(
    "a chain's answers without end",
    20,
    [
      'MAX_CHAIN_ANSWER_BYTES',
      'MAX_CHAIN_ANSWER_VALUES',
      'CHAIN_ANSWER_BYTES_IN_FLIGHT',
      'CHAIN_ANSWER_BYTES_IN_FLIGHT_OF_ENDPOINT',
    ],
    (n) => ({ path: `/c/${pick(n)}/balances?address=0x${randomBytes(20).toString('hex')}` }),
  ),
  transactions(),
  each('wrong keys', 20, ['MAX_COUNTED_IN_MEMORY', 'PROMPT_REFUSALS_A_MINUTE'], (n) => ({
    path: SESSIONS,
    headers: { Authorization: `Bearer svc_ck_test_${String(n).padStart(32, '0')}` },
  })),
  each(
    "wrong operators' passwords",
    20,
    ['WRONG_PASSWORDS_A_MINUTE', 'WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE'],
    (n) => ({
      path: '/admin/queues',
      headers: { Authorization: `Basic ${btoa(`admin:wrong password ${n}`)}` },
    }),
  ),
];

interface VisitRequest {
  path: string;
  headers?: Record<string, string>;
  slowly?: boolean;
}

/** GET requests of one stranger. */
function each(
  name: string,
  connections: number,
  units: readonly string[],
  ask: (n: number) => VisitRequest,
): HeavyOperation {
  const from = stranger();
  return {
    name,
    connections,
    units,
    once(system, n) {
      const { path, ...options } = ask(n);
      return from(system, n).send(path, options);
    },
  };
}

function transactions(): HeavyOperation {
  const from = stranger();
  return {
    name: 'transactions to sign',
    connections: 20,
    units: ['TRANSACTIONS_SHARE_OF_ADDRESS'],
    once: (system, n) => post(from(system, n), `/c/${pick(n)}/transaction`, TRANSACTION),
  };
}
