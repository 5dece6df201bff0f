import assert from 'node:assert/strict';
import { generateKeyPairSigner } from '@solana/kit';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isListedByStockClients, stockClientAdvice } from '../../../api/payment-link/stock-clients.js';
import { OFFERED_TOKENS } from '../../../shared/chains/networks/networks.js';

const LISTED = { network: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' };
const UNLISTED = { network: 'eip155:196', asset: '0x779Ded0c9e1022225f8E0630b35a9b54bE713736' };

describe('the restrictions of stock clients', () => {
  it('are known for each offered token, compared with their own lists', async () => {
    const evm = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));
    const svm = new ExactSvmScheme(await generateKeyPairSigner());
    const known = OFFERED_TOKENS.map(({ network, address }) => {
      const listed = (network.family === 'evm' ? evm : svm).findDefaultAsset?.(
        address,
        network.caip2 as `${string}:${string}`,
      );
      return [`${network.caip2} ${address}`, listed !== undefined] as const;
    });
    const ours = OFFERED_TOKENS.map(
      ({ network, address }) =>
        [
          `${network.caip2} ${address}`,
          isListedByStockClients({ network: network.caip2, asset: address }),
        ] as const,
    );
    assert.deepEqual(ours, known);
    assert.equal(new Set(known.map(([, listed]) => listed)).size, 2);
  });

  for (const [title, cents, accepts, says] of [
    ['a dollar in a listed token', 100, [LISTED], []],
    ['zero in a listed token', 0, [LISTED], []],
    ['a cent over a dollar', 101, [LISTED], ['maxAmountPerPayment']],
    ['any amount in an unlisted token', 1, [UNLISTED], ['allowedAssets']],
    ['over a dollar in an unlisted token, which has no other limit', 101, [UNLISTED], ['allowedAssets']],
    ['an unlisted token beside others', 100, [LISTED, UNLISTED], ['allowedAssets']],
    [
      'over a dollar in listed and unlisted tokens',
      101,
      [LISTED, UNLISTED],
      ['maxAmountPerPayment', 'allowedAssets'],
    ],
  ] as const) {
    it(`cause ${says.length === 0 ? 'no advice' : `advice on ${says.join(' and ')}`} for ${title}`, () => {
      const advice = stockClientAdvice(cents, '$1.01', accepts) ?? '';
      const options = ['maxAmountPerPayment', 'allowedAssets'].filter((option) => advice.includes(option));
      assert.deepEqual(options, says);
      assert.equal(advice === '', says.length === 0);
    });
  }
});
