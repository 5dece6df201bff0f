import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { dataFolder } from '../postgres/local-database.js';
import { localEncryptionKey } from './local-keys.js';

/** The settings of a running or earlier `npm start` that a command needs to read its chains and to write its links. */
export async function localSettings(folder = dataFolder()): Promise<Record<string, string>> {
  return {
    ENCRYPTION_KEY: await localEncryptionKey(folder),
    ...(await keptBaseUrl(folder)),
    ...(await sandboxEndpoints(folder).catch(() => ({}))),
  };
}

/** Keeps the address that links of the local database start with, for commands. */
export async function keepBaseUrl(folder: string, baseUrl: string): Promise<void> {
  const file = baseUrlFile(folder);
  await writeFile(`${file}.new`, `${baseUrl}\n`);
  await rename(`${file}.new`, file);
}

async function keptBaseUrl(folder: string): Promise<Record<string, string>> {
  const baseUrl = (await readFile(baseUrlFile(folder), 'utf8').catch(() => '')).trim();
  return baseUrl === '' ? {} : { BASE_URL: baseUrl };
}

const baseUrlFile = (folder: string): string => path.join(folder, 'base-url');

/** Reads the file of endpoints that the sandbox writes. */
async function sandboxEndpoints(folder: string): Promise<Record<string, string>> {
  const text = await readFile(path.join(folder, 'sandbox', 'endpoints.json'), 'utf8');
  const urls: SandboxUrls = JSON.parse(text);
  return sandboxSettings(urls);
}

export interface SandboxUrls {
  facilitator: string;
  secondFacilitator: string;
  /** Keyed by environment variable, RPC_URL_<network>. */
  rpcUrls: Record<string, string>;
}

/** The sandbox's own explorer shows the transactions of its chains. */
export function sandboxSettings({
  facilitator,
  secondFacilitator,
  rpcUrls,
}: SandboxUrls): Record<string, string> {
  const ofEach = Object.entries(rpcUrls).flatMap(([network, url]) => [
    [`RPC_URL_${network}`, url],
    [`EXPLORER_URL_${network}`, `${facilitator}/sandbox/tx/${network}/{tx}`],
  ]);
  return {
    FACILITATOR_URL: facilitator,
    FACILITATOR_URL_2: secondFacilitator,
    ...Object.fromEntries(ofEach),
  };
}
