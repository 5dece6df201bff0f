import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isJsonObject } from '../../../shared/values/json-object.js';

/**
 * The URLs of a running sandbox, written to its data folder for other processes of this checkout: another `npm start`,
 * `npm run pay`.
 */
export interface Endpoints {
  id: string;
  facilitator: string;
  secondFacilitator: string;
  /** Keyed by environment variable, RPC_URL_<network>. */
  rpcUrls: Record<string, string>;
}

const ASK_TIMEOUT_MS = 2000;

export async function writeEndpoints(folder: string, endpoints: Endpoints): Promise<void> {
  const file = fileIn(folder);
  await writeFile(`${file}.new`, `${JSON.stringify(endpoints)}\n`);
  await rename(`${file}.new`, file);
}

/** Undefined when nothing answers at the recorded URL, or a sandbox with another id does. */
export async function findRunningSandbox(folder: string): Promise<Endpoints | undefined> {
  try {
    const written = parseEndpoints(JSON.parse(await readFile(fileIn(folder), 'utf8')));
    if (written === undefined) return undefined;
    const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const answer: unknown = await (await fetch(`${written.facilitator}/sandbox`, { signal })).json();
    return isJsonObject(answer) && answer.id === written.id ? written : undefined;
  } catch {
    return undefined;
  }
}

function parseEndpoints(value: unknown): Endpoints | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, facilitator, secondFacilitator, rpcUrls } = value;
  if (typeof id !== 'string' || typeof facilitator !== 'string') return undefined;
  if (typeof secondFacilitator !== 'string' || !isJsonObject(rpcUrls)) return undefined;
  const urls = Object.entries(rpcUrls).map(([name, url]) => [name, String(url)]);
  return { id, facilitator, secondFacilitator, rpcUrls: Object.fromEntries(urls) };
}

function fileIn(folder: string): string {
  return path.join(folder, 'endpoints.json');
}
