import { type Hex, isHex, parseAbi } from 'viem';
import { readSourceFile } from '../files/read-source-file.js';

export const SANDBOX_TOKEN_ABI = parseAbi([
  'function open(string name, string symbol, string version, uint8 decimals)',
  'function mint(address to, uint256 value)',
  'function name() view returns (string)',
  'function balanceOf(address owner) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);

/** Multicall3's address on every chain. The facilitator's library calls it to find out why a payment would fail. */
export const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';

/** The bytecode of sandbox-token.sol, and of Multicall3 (MIT licence, github.com/mds1/multicall3) as it is deployed. */
export function readCode(contract: 'sandbox-token' | 'multicall3'): Hex {
  const file = `evm/${contract}.json`;
  const { runtimeCode }: { runtimeCode?: unknown } = JSON.parse(readSourceFile(file).toString());
  if (!isHex(runtimeCode)) throw new Error(`${file} holds no runtimeCode.`);
  return runtimeCode;
}
