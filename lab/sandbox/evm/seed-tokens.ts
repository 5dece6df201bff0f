import { type Address, parseEther } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { EvmNetwork } from '../../../shared/chains/networks/networks.js';
import { EVM_FACILITATOR_KEY, EVM_SECOND_FACILITATOR_KEY, FUNDED_DOLLARS } from '../networks/wallets.js';
import { MULTICALL3, readCode, SANDBOX_TOKEN_ABI } from './contracts.js';
import type { LocalChain } from './local-chain.js';

const GAS_MONEY = parseEther('1000');

/** Deploys the network's tokens at their real addresses, with the names and versions that buyers sign (EIP-712). */
export async function seedTokens(network: EvmNetwork, chain: LocalChain): Promise<void> {
  for (const key of [EVM_FACILITATOR_KEY, EVM_SECOND_FACILITATOR_KEY] as const)
    await chain.setBalance({ address: privateKeyToAddress(key), value: GAS_MONEY });
  // Multicall3 is deployed last: when it is missing, an earlier start was interrupted, and seeding starts again.
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

/** Tops up each token of a wallet that holds less than half of the usual amount. */
export async function fundTokens(network: EvmNetwork, chain: LocalChain, wallet: Address): Promise<void> {
  for (const { address, decimals } of network.tokens) {
    const amount = FUNDED_DOLLARS * 10n ** BigInt(decimals);
    const token = { address, abi: SANDBOX_TOKEN_ABI } as const;
    const held = await chain.readContract({ ...token, functionName: 'balanceOf', args: [wallet] });
    if (held >= amount / 2n) continue;
    const hash = await chain.writeContract({ ...token, functionName: 'mint', args: [wallet, amount] });
    await chain.waitForTransactionReceipt({ hash });
  }
}
