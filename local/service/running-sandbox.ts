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
  return chainSettings(facilitator, rpcUrls);
}

/** The sandbox's own explorer shows the transactions of its chains. */
export function chainSettings(facilitator: string, rpcUrls: Record<string, string>): Record<string, string> {
  const ofEach = Object.entries(rpcUrls).flatMap(([network, url]) => [
    [`RPC_URL_${network}`, url],
    [`EXPLORER_URL_${network}`, `${facilitator}/sandbox/tx/${network}/{tx}`],
  ]);
  return { FACILITATOR_URL: facilitator, ...Object.fromEntries(ofEach) };
}
