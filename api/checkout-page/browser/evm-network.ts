import type { PayableEntry } from '../page-data.js';
import { askWalletChain } from './ask-server.js';
import { WalletProblem } from './wallet.js';

export type AskProvider = (method: string, params?: unknown[]) => Promise<unknown>;

const UNKNOWN_CHAIN = 4902;
/** Wallets report a change before it has taken effect. */
const SWITCHED_WITHIN_MS = 2000;
const CHECK_EVERY_MS = 100;

export async function networkOf(ask: AskProvider): Promise<string> {
  return `eip155:${Number(await ask('eth_chainId'))}`;
}

export async function switchNetwork(ask: AskProvider, entry: PayableEntry): Promise<void> {
  const { chain } = entry;
  if (chain === undefined) throw new Error('not an EVM entry');
  const change = (): Promise<unknown> => ask('wallet_switchEthereumChain', [chain]);
  try {
    await change();
  } catch (error) {
    if (!isUnknownChain(error)) throw error;
    await addNetwork(ask, chain.chainId, entry, change);
  }
  if (!(await hasSwitched(ask, entry))) {
    throw new WalletProblem('wrongNetwork', { network: entry.networkName });
  }
}

/** Most wallets switch to a network when it is added. */
async function addNetwork(
  ask: AskProvider,
  chainId: string,
  { accepted, networkName }: PayableEntry,
  change: () => Promise<unknown>,
): Promise<void> {
  const definition = await askWalletChain(chainId);
  // The buyer can change it in the wallet.
  if (definition === undefined) throw new WalletProblem('wrongNetwork', { network: networkName });
  await ask('wallet_addEthereumChain', [definition]);
  if ((await networkOf(ask)) !== accepted.network) await change();
}

async function hasSwitched(ask: AskProvider, { accepted }: PayableEntry): Promise<boolean> {
  const startedAt = performance.now();
  for (;;) {
    if ((await networkOf(ask)) === accepted.network) return true;
    if (performance.now() - startedAt > SWITCHED_WITHIN_MS) return false;
    await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
  }
}

/** Some wallets wrap the standard error. */
function isUnknownChain(error: unknown): boolean {
  const { code, data } = Object(error) as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  return code === UNKNOWN_CHAIN || data?.originalError?.code === UNKNOWN_CHAIN;
}
