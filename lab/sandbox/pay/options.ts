import { parseArgs } from 'node:util';
import { isHex } from 'viem';
import { findNetworkByV1Name } from '../../../shared/chains/networks/networks.js';
import { fromBase58 } from '../../world/chains/base58.js';
import {
  EVM_BUYER_KEY,
  EVM_MERCHANT_KEY,
  SOLANA_BUYER_KEY,
  SOLANA_MERCHANT_KEY,
} from '../networks/wallets.js';
import { Failure } from './failure.js';

export interface PayOptions {
  link: string;
  /** CAIP-2. */
  network: string | undefined;
  token: string | undefined;
  /** The Solana endpoint from which the buyer's transaction takes its blockhash. */
  rpcUrl: string | undefined;
  wallets: Wallets;
}

/** A key of one family can pay on that family's networks only. */
export interface Wallets {
  evm?: `0x${string}`;
  solana?: Uint8Array;
}

export const USAGE = `Usage: npm run pay -- <link> [--network eip155:84532] [--token USDC] [--key 0x…|base58] [--rpc <url>]

Pays a payment link as an AI agent does, on test networks, with a wallet of the sandbox unless a key is given:
the buyer's, or the merchant's when the link is a refund.
--rpc is a Solana endpoint, for a sandbox that runs on another machine.
`;

const SOLANA_KEY_BYTES = 64;

/** Undefined when help is asked for. */
export function parsePayOptions(argv: readonly string[]): PayOptions | undefined {
  const { values, positionals } = parse(argv);
  const [link, ...others] = positionals;
  if (values.help === true) return undefined;
  if (link === undefined) throw new Failure(`There is no link to pay.\n${USAGE}`);
  if (others.length > 0) throw new Failure(`One link at a time: ${others[0]} is one too many.`);
  const protocol = URL.canParse(link) ? new URL(link).protocol : '';
  if (!['http:', 'https:'].includes(protocol)) {
    throw new Failure(`"${link}" is not a link: it starts with http:// or https://.`);
  }
  const network = values.network && (findNetworkByV1Name(values.network)?.caip2 ?? values.network);
  return {
    link,
    network,
    token: values.token?.toUpperCase(),
    rpcUrl: values.rpc,
    wallets: values.key === undefined ? ownWallets(link) : readKey(values.key),
  };
}

function parse(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = {
    network: text,
    token: text,
    key: text,
    rpc: text,
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message.split('\n', 1)[0] : error}\n${USAGE}`);
  }
}

/** A refund is paid by the merchant. */
function ownWallets(link: string): Wallets {
  return /\/c\/re_/.test(new URL(link).pathname)
    ? { evm: EVM_MERCHANT_KEY, solana: fromBase58(SOLANA_MERCHANT_KEY) }
    : { evm: EVM_BUYER_KEY, solana: fromBase58(SOLANA_BUYER_KEY) };
}

function readKey(key: string): Wallets {
  if (isHex(key) && key.length === 66) return { evm: key };
  try {
    const bytes = fromBase58(key);
    if (bytes.length === SOLANA_KEY_BYTES) return { solana: bytes };
  } catch {
    // The error below leaves the key out.
  }
  throw new Failure(
    '--key is neither an EVM private key (0x and 64 hex digits) nor a Solana one (64 bytes in base58).',
  );
}
