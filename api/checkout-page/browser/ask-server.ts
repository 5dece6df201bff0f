import type { LinkBalances, LinkStatus, TransactionOffer } from '../page-data.js';
import { WalletProblem } from './wallet.js';

/** Requests time out, so that an unresponsive server does not block the page. */
const TIMEOUT_MS = 10_000;
const TRANSACTION_ATTEMPTS = 3;
/** Longer than the service waits for a network. */
const BALANCES_MS = 4000;

export async function askStatus(path: string): Promise<LinkStatus> {
  const response = await fetch(`${path}/status`, {
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return await response.json();
}

/** The current page, in the language of this URL. */
export async function askDocument(path: string): Promise<Document> {
  const response = await fetch(`${path}/page${location.search}`, {
    headers: { Accept: 'text/html' },
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

/** Empty when balances could not be read. */
export async function askBalances(path: string, address: string): Promise<LinkBalances['balances']> {
  try {
    // Some wallets return addresses with a wrong checksum; lower case has none.
    const spelled = address.startsWith('0x') ? address.toLowerCase() : address;
    const response = await fetch(`${path}/balances?address=${spelled}`, {
      headers: { Accept: 'application/json' },
      cache: 'no-store',
      signal: AbortSignal.timeout(BALANCES_MS),
    });
    const answer: LinkBalances | undefined = response.ok ? await response.json() : undefined;
    return answer?.balances ?? [];
  } catch {
    return [];
  }
}

export async function askTransaction(
  path: string,
  question: { payer: string; asset?: string },
): Promise<TransactionOffer> {
  for (let attempt = 1; attempt <= TRANSACTION_ATTEMPTS; attempt += 1) {
    const response = await fetch(`${path}/transaction`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => undefined);
    const answer: TransactionOffer | undefined = response?.ok === true ? await response.json() : undefined;
    if (answer !== undefined && 'balances' in answer) return answer;
  }
  throw new WalletProblem('failedService');
}
