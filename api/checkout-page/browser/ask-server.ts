import type { LinkStatus, TransactionOffer } from '../page-data.js';
import { WalletProblem } from './wallet.js';

/** A server that has gone quiet must not hold the page up. */
const TIMEOUT_MS = 10_000;
const TRANSACTION_ATTEMPTS = 3;

export async function askStatus(path: string): Promise<LinkStatus> {
  const response = await fetch(`${path}/status`, {
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return await response.json();
}

/** The page as it is now, in the language that its address asks for. */
export async function askDocument(path: string): Promise<Document> {
  const response = await fetch(`${path}/page${location.search}`, {
    headers: { Accept: 'text/html' },
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return new DOMParser().parseFromString(await response.text(), 'text/html');
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
