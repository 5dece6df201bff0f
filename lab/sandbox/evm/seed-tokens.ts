import { type Address, parseEther } from 'viem';
import type { EvmNetwork } from '../../../shared/chains/networks.js';
import { EVM_FACILITATOR_KEY, GIFT_DOLLARS } from '../wallets.js';
import { MULTICALL3, readCode, SANDBOX_TOKEN_ABI } from './contracts.js';
import { openLocalChain } from './local-chain.js';

const GAS_MONEY = parseEther('1000');

/** Puts the network's tokens where they lie in reality, under the names that buyers sign for. */
export async function seedTokens(network: EvmNetwork, url: string): Promise<void> {
  const chain = openLocalChain(network, url, EVM_FACILITATOR_KEY);
  await chain.setBalance({ address: chain.account.address, value: GAS_MONEY });
  // The last of all: a start that was cut short before it begins anew.
  if ((await chain.getCode({ address: MULTICALL3 })) !== undefined) return;
  const bytecode = readCode('sandbox-token');
  for (const { address, symbol, decimals, domain } of network.tokens) {
    await chain.setCode({ address, bytecode });
    const token = { address, abi: SANDBOX_TOKEN_ABI } as const;
    if ((await chain.readContract({ ...token, functionName: 'name' })) !== '') continue;
    const args = [domain.name, symbol, domain.version, decimals] as const;
    const hash = await chain.writeContract({ ...token, functionName: 'open', args });
    await chain.waitForTransactionReceipt({ hash });
  }
  await chain.setCode({ address: MULTICALL3, bytecode: readCode('multicall3') });
}

/** Of each token, to a wallet that holds less than half of that. */
export async function giveTokens(network: EvmNetwork, url: string, wallet: Address): Promise<void> {
  const chain = openLocalChain(network, url, EVM_FACILITATOR_KEY);
  for (const { address, decimals } of network.tokens) {
    const gift = GIFT_DOLLARS * 10n ** BigInt(decimals);
    const token = { address, abi: SANDBOX_TOKEN_ABI } as const;
    const held = await chain.readContract({ ...token, functionName: 'balanceOf', args: [wallet] });
    if (held >= gift / 2n) continue;
    const hash = await chain.writeContract({ ...token, functionName: 'mint', args: [wallet, gift] });
    await chain.waitForTransactionReceipt({ hash });
  }
}
