import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { pick, seededRandom } from '../../../lab/world/chance/seeded-random.js';
import {
  altered,
  type Behaviour,
  breaksAfterWork,
  breaksBeforeWork,
  failsAfterWork,
  settlesAsPending,
} from '../../../lab/world/facilitator/dial.js';
import { startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { paymentHeader, signSolanaPayment } from '../../../lab/world/shop/agent.js';
import { loadConfig } from '../../../shared/config/config.js';
import { nowMs, resetClock } from '../../../shared/process/clock.js';
import type { FacilitatorRequest, PaymentRequirements, SvmPayload } from '../../../shared/x402/wire.js';
import { type Checkout, findEntry, openCheckout, SOLANA_DEVNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { type ManualWorker, openManualWorker } from '../../support/money-flow.js';
import { testServices } from '../../support/suite.js';

const SEED = Number(process.env.MONEY_SEED ?? '20261102');
const PAYMENTS = 12;
const EARLIER = 10_000;
const MS_PER_SLOT = 400;
const MOST_STEPS = 60;

/** The facilitator's answer to `/settle` is lost, after it moved the money or without doing so. */
const LOST: readonly (() => Behaviour)[] = [
  () => breaksAfterWork('reset'),
  () => failsAfterWork(500),
  () => settlesAsPending(),
  () => altered({ transaction: '' }),
  () => breaksBeforeWork('reset'),
];

describe('an agent that makes three payments a minute from one Solana wallet while answers of /settle are lost', () => {
  const random = seededRandom(SEED);
  const wallet = Keypair.generate();
  const chain = forAllTests(() => SolanaChain.start(SOLANA_DEVNET));
  let checkout: Checkout;
  let manualWorker: ManualWorker;
  let entry: PaymentRequirements;
  let seenAtMs = nowMs();

  before(async () => {
    chain.endpoint.onCall = keepUp;
    const facilitator = await startFacilitator({
      onSettled: ({ transaction }) => {
        const { body } = facilitator.calls.settle.at(-1) ?? {};
        const { payload } = (body as FacilitatorRequest).paymentPayload;
        chain.movePayment((payload as SvmPayload).transaction, { signature: transaction });
      },
    });
    const environment = { SETTLE_WAIT_MS: '0', RPC_URL_SOLANA_DEVNET: chain.endpoint.url };
    checkout = await openCheckout({ facilitator, worker: false, environment });
    const { databaseUrl } = testServices();
    const settings = { ...environment, DATABASE_URL: databaseUrl, FACILITATOR_URL: facilitator.url };
    manualWorker = openManualWorker(loadConfig(settings, 'worker'), checkout.app.db);
    const { id } = await checkout.buildSession();
    entry = findEntry((await checkout.quote(id)).accepts, SOLANA_DEVNET);
    chain.landMany(signAnew(), EARLIER);
  });
  after(async () => {
    resetClock();
    await manualWorker.deps.facilitators.close();
    manualWorker.deps.chains.close();
    await checkout.close();
  });

  /** Advances the chain's slots with the clock that the test moves. */
  function keepUp(): void {
    const slots = Math.floor((nowMs() - seenAtMs) / MS_PER_SLOT);
    if (slots === 0) return;
    chain.pass(Math.min(slots, 1000));
    seenAtMs = nowMs();
  }

  function signAnew(): string {
    return signSolanaPayment(entry, { payer: wallet, blockhash: chain.issueBlockhash() }).transaction;
  }

  async function buy(): Promise<string> {
    const { id } = await checkout.buildSession();
    const header = paymentHeader(entry, { transaction: signAnew() });
    checkout.facilitator.settle.next(pick(random, LOST)());
    assert.equal(answerOf(await checkout.visit(id, { 'PAYMENT-SIGNATURE': header })), '202 processing');
    return id;
  }

  it(`each payment ends as the facilitator's ledger says, within few reads of the chain (MONEY_SEED=${SEED})`, async () => {
    for (let bought = 0; bought < PAYMENTS; bought += 1) {
      const id = await buy();
      const before = checkout.facilitator.ledger.length;
      let { id: paymentId, status } = await checkout.payment(id);
      for (let steps = 0; status === 'processing'; steps += 1) {
        assert.ok(steps < MOST_STEPS, `${paymentId} is not decided`);
        await manualWorker.doNext(paymentId);
        ({ id: paymentId, status } = await checkout.payment(id));
      }
      const moved = checkout.facilitator.ledger.length - before;
      assert.deepEqual([status, moved], moved === 0 ? ['failed', 0] : ['succeeded', 1]);
      // Others buy with the same wallet meanwhile.
      chain.landMany(signAnew(), 3);
    }
    assert.ok(checkout.facilitator.ledger.length > PAYMENTS / 2);
  });
});
