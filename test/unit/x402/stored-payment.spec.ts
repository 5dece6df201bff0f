import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { signSolanaPayment } from '../../../lab/world/shop/agent.js';
import { now } from '../../../shared/process/clock.js';
import { readStoredPayment } from '../../../shared/x402/stored-payment.js';
import { entryFor, SOLANA_DEVNET } from './offers.js';

describe('a query for the chain', () => {
  it('has the token program of a Solana token that is no longer in the table', async () => {
    const entry = entryFor(SOLANA_DEVNET, 'USDG');
    const payment = {
      id: 'pay_1',
      // The network is no longer in the table either.
      network: 'solana:of-yesterday',
      asset: entry.asset,
      payTo: entry.payTo,
      tokenAmount: entry.amount,
      claimedAt: now(),
      reportedTransaction: null,
      searchPlace: null,
      requirements: entry,
      payload: signSolanaPayment(entry, { payer: Keypair.generate() }),
    };
    const { chainQuery: query } = await readStoredPayment(payment);
    assert.deepEqual([query.family, 'tokenProgram' in query && query.tokenProgram], ['svm', 'token-2022']);
  });
});
