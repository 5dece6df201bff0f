import assert from 'node:assert/strict';
import * as viemChains from 'viem/chains';
import { walletChain } from '../../../api/checkout-page/wallet-chains.js';
import { NETWORKS } from '../../../shared/chains/networks/networks.js';

describe('the definition of a network for wallets', () => {
  for (const network of NETWORKS) {
    if (network.family !== 'evm') continue;

    it(`names the coin of ${network.name} like the chain definitions of viem`, () => {
      const { symbol, decimals } = walletChain(network).nativeCurrency;
      const known = Object.values(viemChains).filter(
        (chain) => 'nativeCurrency' in chain && chain.id === network.chainId,
      );
      assert.ok(known.length > 0);
      for (const { nativeCurrency } of known) {
        assert.deepEqual([symbol, decimals], [nativeCurrency.symbol, nativeCurrency.decimals]);
      }
    });
  }
});
