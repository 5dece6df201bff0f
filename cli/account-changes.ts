import type { AccountDetails } from '../shared/accounts/accounts.js';
import { OFFERED_TOKENS } from '../shared/chains/networks/networks.js';
import { parseEvmWallet, parseSolanaWallet } from '../shared/chains/networks/wallet-address.js';
import { parseUrl } from '../shared/values/parse-url.js';
import type { Input } from './command.js';
import { UsageError } from './parse-command-line.js';
import { readText } from './read-values.js';

type Reader<T> = (text: string) => T;

/** The changes that the options ask for. An empty value clears a field. */
export function accountChanges(input: Input): Partial<AccountDetails> {
  const changes: Partial<AccountDetails> = {};
  const set = <K extends keyof AccountDetails>(
    option: string,
    field: K,
    read: Reader<AccountDetails[K]>,
  ): void => {
    const text = input[option];
    if (text !== undefined) changes[field] = read(text);
  };
  set('name', 'name', readName);
  set('evm', 'evmWallet', orNull(readEvmWallet));
  set('solana', 'solanaWallet', orNull(readSolanaWallet));
  set('logo-url', 'logoUrl', orNull(readLogoUrl));
  set('brand-color', 'brandColor', orNull(readBrandColor));
  set('support-email', 'supportEmail', orNull(readEmail));
  return changes;
}

function orNull(read: Reader<string>): Reader<string | null> {
  return (text) => (text === '' ? null : read(text));
}

function readName(text: string): string {
  return readText(text, '--name', 100);
}

function readEvmWallet(text: string): string {
  const wallet = parseEvmWallet(text);
  if (wallet !== undefined) return refuseToken('--evm', wallet);
  throw new UsageError(
    `--evm must be a non-zero address of 0x and 40 hex digits, in lower case or with a valid EIP-55 checksum; it is "${text}".`,
  );
}

function readSolanaWallet(text: string): string {
  const wallet = parseSolanaWallet(text);
  if (wallet !== undefined) return refuseToken('--solana', wallet);
  throw new UsageError(
    `--solana must be a wallet address: 32 bytes in base58, not all of them zero; it is "${text}".`,
  );
}

/** Money that is sent to a token's own address is lost. */
function refuseToken(option: string, wallet: string): string {
  const token = OFFERED_TOKENS.find(({ address }) => address === wallet);
  if (token === undefined) return wallet;
  throw new UsageError(
    `${option} is the address of the token ${token.symbol} on ${token.network.name}, and money that is sent there is lost. Give the merchant's own wallet.`,
  );
}

function readLogoUrl(text: string): string {
  if (/^https:\/\/[^\s\\]+$/i.test(text) && text.length <= 2048 && parseUrl(text) !== undefined) return text;
  throw new UsageError(`--logo-url must be an https URL; it is "${text}".`);
}

function readBrandColor(text: string): string {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase();
  throw new UsageError(`--brand-color must look like #1a2b3c; it is "${text}".`);
}

function readEmail(text: string): string {
  if (/^[^\s@<>":;,]+@[^\s@<>":;,]+\.[^\s@<>":;,]+$/.test(text) && text.length <= 254) return text;
  throw new UsageError(`--support-email must be an e-mail address; it is "${text}".`);
}
