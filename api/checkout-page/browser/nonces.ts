import type { PageData } from '../page-data.js';
import { askDocument } from './ask-server.js';
import type { Nonces } from './wallet.js';

/** The server recognizes its own nonces on the chain. */
export function openNonces({ path, nonces = [] }: Pick<PageData, 'path' | 'nonces'>): Nonces {
  const left: string[] = [...nonces];
  return {
    async next() {
      if (left.length === 0) left.push(...(await askForMore(path)));
      return left.shift() ?? randomNonce();
    },
  };
}

async function askForMore(path: string): Promise<string[]> {
  try {
    const text = (await askDocument(path)).querySelector<HTMLElement>('#page')?.dataset.page;
    return text === undefined ? [] : ((JSON.parse(text) as PageData).nonces ?? []);
  } catch {
    return [];
  }
}

/** A payment without a reference is better than none. */
function randomNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
