import { createPublicKey } from 'node:crypto';
import type { AccountDetails } from '../shared/accounts/accounts.js';
import { MAX_KEY_ID_LENGTH } from '../shared/accounts/facilitator-keys.js';
import { OFFERED_TOKENS } from '../shared/chains/networks.js';
import { parseEvmWallet, parseSolanaWallet } from '../shared/chains/wallet-address.js';
import { whyNoPublicKey } from '../shared/secrets/ed25519-point.js';
import { parseUrl } from '../shared/values/parse-url.js';
import type { Input } from './command.js';
import { UsageError } from './parse-command-line.js';

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

export function parseKeyName(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : readText(text, '--name', 100);
}

/** The id of a facilitator key, as `kid` and `sub` of a token name it. */
export function parseKeyId(text: string): string {
  return readText(text, '--key-id', MAX_KEY_ID_LENGTH);
}

function readText(text: string, option: string, maxLength: number): string {
  const isPlain = text.trim() !== '' && text.isWellFormed() && !/\p{Cc}/u.test(text);
  if (!isPlain || [...text].length > maxLength) {
    throw new UsageError(`${option} must be 1 to ${maxLength} characters of text.`);
  }
  return text;
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

export function parseMode(text: string | undefined): 'live' | 'test' {
  if (text === 'live' || text === 'test') return text;
  throw new UsageError(`--mode must be live or test; it is "${text}".`);
}

/** The 12 bytes that make 32 raw bytes an Ed25519 key in SPKI DER. */
const ED25519_SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Base64 of an Ed25519 public key, as SPKI DER or as its raw 32 bytes; stored as DER. */
export function parsePublicKey(text: string | undefined): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64');
  const der = bytes.length === 32 ? Buffer.concat([ED25519_SPKI_PREFIX, bytes]) : bytes;
  if (isEd25519(der)) {
    const fault = whyNoPublicKey(der.subarray(-32));
    if (fault === undefined) return der;
    throw new UsageError(`--public-key is no public key: its bytes are ${fault}. Copy the key again.`);
  }
  throw new UsageError('--public-key must be an Ed25519 public key in base64: SPKI DER or the raw 32 bytes.');
}

function isEd25519(der: Buffer): boolean {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' }).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}
