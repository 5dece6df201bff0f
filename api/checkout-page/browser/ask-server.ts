import type { LinkBalances, LinkStatus, TransactionOffer, WalletChain, WalletChains } from '../page-data.js';
import { askWithin } from './ask-within.js';
import { WalletProblem } from './wallet.js';

const TIMEOUT_MS = 10_000;
const TRANSACTION_ATTEMPTS = 3;
/** Longer than the service waits for a network. */
const BALANCES_MS = 4000;

export async function askStatus(path: string): Promise<LinkStatus> {
  return await askWithin(TIMEOUT_MS, `${path}/status`, { cache: 'no-store' }, async (response) => {
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await response.json();
  });
}

/** The current page, in the language of this URL. */
export async function askDocument(path: string): Promise<Document> {
  const options: RequestInit = { headers: { Accept: 'text/html' }, cache: 'no-store' };
  const text = await askWithin(TIMEOUT_MS, `${path}/page${location.search}`, options, (response) =>
    response.text(),
  );
  return new DOMParser().parseFromString(text, 'text/html');
}

/** Returns what a wallet needs to add a network that it does not know. Undefined when there is no answer. */
export async function askWalletChain(chainId: string): Promise<WalletChain | undefined> {
  return await askWithin(TIMEOUT_MS, '/assets/wallet-chains.json', {}, async (response) => {
    const chains: WalletChains = await response.json();
    return chains[chainId];
  }).catch(() => undefined);
}

/** Empty when balances could not be read. */
export async function askBalances(path: string, address: string): Promise<LinkBalances['balances']> {
  try {
    // Some wallets return addresses with a wrong checksum; lower case has none.
    const spelled = address.startsWith('0x') ? address.toLowerCase() : address;
    const options: RequestInit = { headers: { Accept: 'application/json' }, cache: 'no-store' };
    const answer: LinkBalances | undefined = await askWithin(
      BALANCES_MS,
      `${path}/balances?address=${spelled}`,
      options,
      async (response) => (response.ok ? await response.json() : undefined),
    );
    return answer?.balances ?? [];
  } catch {
    return [];
  }
}

export async function askTransaction(
  path: string,
  question: { payer: string; asset?: string },
): Promise<TransactionOffer> {
  const options: RequestInit = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(question),
  };
  for (let attempt = 1; attempt <= TRANSACTION_ATTEMPTS; attempt += 1) {
    const answer: TransactionOffer | undefined = await askWithin(
      TIMEOUT_MS,
      `${path}/transaction`,
      options,
      async (response) => (response.ok ? await response.json() : undefined),
    ).catch(() => undefined);
    if (answer !== undefined && 'balances' in answer) return answer;
  }
  throw new WalletProblem('failedService');
}
