import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { dataFolder } from '../postgres/local-database.js';
import { localEncryptionKey } from './local-keys.js';

/** The settings of a running or earlier `npm start` that a command needs to read its chains. */
export async function localSettings(): Promise<Record<string, string>> {
  return {
    ENCRYPTION_KEY: await localEncryptionKey(dataFolder()),
    ...(await sandboxEndpoints().catch(() => ({}))),
  };
}

/** As the sandbox writes them. */
async function sandboxEndpoints(): Promise<Record<string, string>> {
  const text = await readFile(path.join(dataFolder(), 'sandbox', 'endpoints.json'), 'utf8');
  const { facilitator, rpcUrls }: { facilitator: string; rpcUrls: Record<string, string> } = JSON.parse(text);
  const urls = Object.entries(rpcUrls).map(([network, url]) => [`RPC_URL_${network}`, url]);
  return { FACILITATOR_URL: facilitator, ...Object.fromEntries(urls) };
}
