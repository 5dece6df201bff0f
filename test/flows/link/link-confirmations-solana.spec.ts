import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { type Behaviour, failsAfterWork, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { paymentHeader, signSolanaPayment } from '../../../lab/world/shop/agent.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import type { FacilitatorRequest, SvmPayload } from '../../../shared/x402/wire.js';
import {
  type Checkout,
  FAILED,
  findEntry,
  openCheckout,
  PAID,
  PROCESSING,
  SOLANA_DEVNET,
} from '../../support/checkout.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';

describe('a Solana payment that waits for confirmations', () => {
  let chain: SolanaChain;
  let checkout: Checkout;

  async function open(confirmations: string): Promise<void> {
    chain = await SolanaChain.start(SOLANA_DEVNET);
    const facilitator = await startFacilitator({
      onSettled: ({ transaction }) => {
        const { body } = facilitator.calls.settle.at(-1) ?? {};
        const { payload } = (body as FacilitatorRequest).paymentPayload;
        chain.movePayment((payload as SvmPayload).transaction, {
          signature: transaction,
          commitment: 'processed',
        });
      },
    });
    checkout = await openCheckout({
      facilitator,
      environment: {
        SETTLE_WAIT_MS: '0',
        CONFIRMATIONS_SOLANA_DEVNET: confirmations,
        RPC_URL_SOLANA_DEVNET: chain.endpoint.url,
      },
    });
  }

  afterEach(async () => {
    resetClock();
    await checkout.close();
    await chain.close();
  });

  async function pay(behaviour: Behaviour = {}): Promise<{ id: string; payer: string }> {
    const { id } = await checkout.buildSession();
    const entry = findEntry((await checkout.quote(id)).accepts, SOLANA_DEVNET);
    const payer = Keypair.generate();
    const payload = signSolanaPayment(entry, { payer, blockhash: chain.issueBlockhash() });
    checkout.facilitator.settle.next(behaviour);
    const header = paymentHeader(entry, payload);
    assert.equal(answerOf(await checkout.visit(id, { 'PAYMENT-SIGNATURE': header })), '202 processing');
    await checkout.afterSettling(id);
    return { id, payer: payer.publicKey.toBase58() };
  }

  async function assertCompletes({ id, payer }: { id: string; payer: string }): Promise<void> {
    await checkout.becomes(id, PAID);
    assert.deepEqual(receiptOf(await checkout.visit(id)), {
      success: true,
      transaction: checkout.facilitator.ledger.at(-1)?.transaction,
      network: SOLANA_DEVNET,
      payer,
    });
  }

  it('is complete at commitment `confirmed` when one confirmation is required', async () => {
    await open('1');
    const payment = await pay();
    await checkout.afterNextCheck(payment.id, 3);
    assert.deepEqual(await checkout.state(payment.id), PROCESSING);
    chain.pass(2);
    advanceClock(3_000);
    await assertCompletes(payment);
  });

  it('is complete at commitment `finalized` when two confirmations are required', async () => {
    await open('2');
    const payment = await pay();
    chain.pass(2);
    await checkout.afterNextCheck(payment.id, 3);
    assert.deepEqual(await checkout.state(payment.id), PROCESSING);
    chain.pass(30);
    advanceClock(3_000);
    await assertCompletes(payment);
  });

  for (const confirmations of ['0', '1'])
    it(`is found by its message when the answer of /settle was lost, with ${confirmations} required`, async () => {
      await open(confirmations);
      const payment = await pay(failsAfterWork(500));
      chain.pass(2);
      advanceClock(3_000);
      await assertCompletes(payment);
    });

  it('fails when its blockhash has expired and it did not land, and not before', async () => {
    await open('0');
    const { id } = await pay({ ...failsToSettle('settlement_pending', '') });
    checkout.facilitator.settle.always(failsToSettle('settlement_pending', ''));
    chain.travel(60);
    await checkout.afterNextCheck(id, 60);
    assert.deepEqual(await checkout.state(id), PROCESSING);
    // The time counts by the chain's own clock, from the first check on.
    chain.travel(200);
    advanceClock(200_000);
    await checkout.becomes(id, FAILED);
    assert.equal(answerOf(await checkout.visit(id)), '402 unexpected_settle_error');
  });
});
