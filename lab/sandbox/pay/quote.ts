import { formatUnits } from 'viem';
import { findNetwork, findToken, type OfferedToken } from '../../../shared/chains/networks/networks.js';
import { isJsonObject, type JsonObject } from '../../../shared/values/json-object.js';
import { Failure } from './failure.js';
import type { PayOptions } from './options.js';

/** One entry of the link's `accepts`. */
export interface Entry {
  network: string;
  asset: string;
  payTo: string;
  /** Amount in the token's smallest unit. */
  amount: bigint;
  token: OfferedToken;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: JsonObject;
}

/** The link's answer to a request without a payment. */
export async function visit(link: string): Promise<Answer> {
  return await readAnswer(link, fetch(link, { headers: { accept: 'application/json' } }));
}

export async function readAnswer(link: string, responding: Promise<Response>): Promise<Answer> {
  const response = await responding.catch((error: unknown) => {
    const { cause }: { cause?: unknown } = error instanceof TypeError ? error : {};
    if (!(cause instanceof Error)) throw error;
    const reason = 'code' in cause ? cause.code : cause.message;
    throw new Failure(`Cannot connect to ${new URL(link).origin} (${reason}): is npm start running?`);
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parseBody(text) };
}

/** The entries that this command can pay, in the link's order; throws when there is none. */
export function readEntries({ status, body }: Answer, link: string): Entry[] {
  if (status === 402 && body.x402Version === 2 && Array.isArray(body.accepts))
    return body.accepts.flatMap(readEntry);
  const said = messageOf(body);
  switch (status) {
    case 200:
      throw new Failure(body.status === 'complete' ? `Already paid: ${link}` : `Not a payment link: ${link}`);
    case 202:
      throw new Failure('Another payment of this link is in progress. Try again in a moment.');
    case 404:
      throw new Failure(`There is no payment link ${link}${said}`);
    case 410:
      throw new Failure(`This payment link has expired: ask the merchant for a new one.`);
    case 503:
      throw new Failure(`The service cannot take payments at the moment${said}`);
    default:
      throw new Failure(`Not a payment link: ${link} answered HTTP ${status}${said}`);
  }
}

/** The first entry that matches the options and whose family has a wallet. */
export function choose(entries: readonly Entry[], { network, token, wallets }: PayOptions): Entry {
  const fits = (entry: Entry): boolean =>
    (network === undefined || entry.network === network) &&
    (token === undefined || entry.token.symbol === token) &&
    (entry.token.family === 'evm' ? wallets.evm : wallets.solana) !== undefined;
  const chosen = entries.find(fits);
  if (chosen === undefined) {
    const offered = entries.map((entry) => `${entry.token.symbol} on ${entry.network}`).join(', ');
    throw new Failure(`The link does not offer that to this wallet. It offers: ${offered || 'nothing'}.`);
  }
  if (findNetwork(chosen.network)?.testnet !== true) {
    throw new Failure(`${chosen.network} is no test network, and this agent pays on those alone.`);
  }
  return chosen;
}

/** Formats an amount for people: 4.50 USDC. */
export function describeAmount({ amount, token }: Pick<Entry, 'amount' | 'token'>): string {
  const [whole, fraction = ''] = formatUnits(amount, token.decimals).split('.');
  return `${whole}.${fraction.padEnd(2, '0')} ${token.symbol}`;
}

/** The error message in the service's answer, as the end of a sentence. */
export function messageOf(body: JsonObject): string {
  const said = isJsonObject(body.error) ? body.error.message : body.error;
  return typeof said === 'string' ? `: ${said}` : '.';
}

function readEntry(value: unknown): Entry[] {
  if (!isJsonObject(value)) return [];
  const { network, asset, payTo, amount } = value;
  if (typeof network !== 'string' || typeof asset !== 'string' || typeof payTo !== 'string') return [];
  const token = findToken(network, asset);
  if (token === undefined || typeof amount !== 'string' || !/^\d+$/.test(amount)) return [];
  return [{ network, asset, payTo, amount: BigInt(amount), token }];
}

function parseBody(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
