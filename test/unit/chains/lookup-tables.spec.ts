import assert from 'node:assert/strict';
import { PublicKey } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { tokenAccount, tokenProgram } from '../../../lab/world/shop/agent.js';
import { createChainReader } from '../../../shared/chains/chain-reader.js';
import { createChains } from '../../../shared/chains/chains.js';
import { findToken } from '../../../shared/chains/networks/networks.js';
import { forEachTest } from '../../support/hooks.js';
import {
  buildSolanaPayment,
  DEVNET,
  lookupTable,
  randomKey,
  type SolanaPayment,
  USDC_MINT,
} from './solana-payment.js';

describe("a Solana payment whose message names the merchant's account in a lookup table", () => {
  const payTo = randomKey();
  const account = tokenAccount(new PublicKey(payTo), USDC_MINT, tokenProgram(DEVNET, USDC_MINT));
  const chain = forEachTest(() => SolanaChain.start(DEVNET));
  const chains = forEachTest(() => createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]])));
  let payment: SolanaPayment;

  beforeEach(() => {
    const table = lookupTable([account, new PublicKey(USDC_MINT)]);
    chain.lookupTables.push(table);
    payment = buildSolanaPayment(chain.issueBlockhash(), { payTo, lookupTables: [table] });
  });

  const land = (): string => chain.movePayment(payment.query.signedTransaction, { commitment: 'finalized' });

  for (const hint of ['found by its message', 'named by the facilitator'] as const) {
    it(`is proved when it is ${hint}`, async () => {
      const transaction = land();
      const transactionHint = hint === 'named by the facilitator' ? transaction : undefined;
      const finding = await chains.check({ ...payment.query, transactionHint });
      assert.ok(finding.kind === 'paid');
      const payer = payment.buyer.publicKey.toBase58();
      assert.deepEqual([finding.transaction, finding.payer], [transaction, payer]);
    });
  }

  it('is not refuted by an endpoint that does not name the accounts of the table', async () => {
    chain.includesLoadedAddresses = false;
    land();
    assert.equal((await chains.check(payment.query)).kind, 'searching');
    chain.includesLoadedAddresses = true;
    assert.equal((await chains.check(payment.query)).kind, 'paid');
  });

  it("arrives at the merchant's account", async () => {
    const transaction = land();
    const token = findToken(DEVNET, USDC_MINT);
    assert.equal(token?.family, 'svm');
    const reader = createChainReader(new Map([['SOLANA_DEVNET', chain.endpoint.url]]), { pauseMs: 1 });
    const entry = { signature: transaction, slot: chain.slot, memo: undefined, blockTime: undefined };
    const read = (): ReturnType<typeof reader.solanaArrival> =>
      reader.solanaArrival({ token, wallet: payTo }, entry);
    const arrival = await read();
    assert.ok(arrival !== undefined && arrival !== 'unreadable');
    assert.equal(arrival.amount, payment.query.amount);
    chain.includesLoadedAddresses = false;
    await assert.rejects(read(), { name: 'ChainUnreadable' });
  });
});
