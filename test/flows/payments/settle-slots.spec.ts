import assert from 'node:assert/strict';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, startWorkerProcess } from '../../../lab/world/processes/processes.js';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { Payment } from '../../../shared/payments/model.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { BASE_SEPOLIA, X_LAYER_TESTNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const HANGING = 60;
const OTHERS = 10;
const AT_ONCE = 10;
/** Fifty calls in all: ten jobs with five payments each. */
const MOST_OF_ONE_ACCOUNT = 28;

describe('60 payments of one merchant and network whose /settle hangs', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('settle_slots', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );

  after(killProcesses);

  async function claim(
    count: number,
    network: string,
    accountId = flow.merchant.accountId,
  ): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, claimOne))));
    return ids;

    async function claimOne(): Promise<string> {
      const { id } = await buildSession(flow.db, accountId);
      assert.equal(answerOf(await flow.pay(id, { network })), '202 processing');
      return id;
    }
  }

  async function statusesOf(ids: readonly string[]): Promise<string[]> {
    const payments = await Payment.query(flow.db)
      .select('status')
      .whereIn('payableId', [...ids]);
    return payments.map(({ status }) => status);
  }

  const succeeded = (ids: readonly string[]): Promise<void> =>
    eventually(async () =>
      assert.deepEqual(
        await statusesOf(ids),
        ids.map(() => 'succeeded'),
      ),
    );

  it('delay neither another network nor another merchant, and are paid once each when it answers again', async () => {
    const { settle, calls, ledger } = flow.facilitator;
    const hold = settle.held();
    const { payTo } = (await flow.quote((await flow.buildSession()).id)).accepts[0] ?? assert.fail();
    const hangs = (body: unknown): boolean => {
      const { network, payTo: wallet } = (body as FacilitatorRequest).paymentRequirements;
      return network === X_LAYER_TESTNET && wallet === payTo;
    };
    settle.choose((body) => (hangs(body) ? hold : undefined));
    const hanging = await claim(HANGING, X_LAYER_TESTNET);
    await startWorkerProcess({
      ...flow.settings,
      FACILITATOR_SETTLE_TIMEOUT_MS: '150000',
      WORKER_CONCURRENCY: '10',
    });
    const begun = (): number => calls.settle.filter(({ body }) => hangs(body)).length;
    await eventually(() => assert.equal(begun(), MOST_OF_ONE_ACCOUNT));
    const evmWallet = privateKeyToAccount(generatePrivateKey()).address;
    const other = await buildMerchant(flow.db, { evmWallet });
    const others = [
      ...(await claim(OTHERS, BASE_SEPOLIA)),
      ...(await claim(OTHERS, X_LAYER_TESTNET, other.accountId)),
    ];
    await succeeded(others);
    assert.equal(begun(), MOST_OF_ONE_ACCOUNT, 'no further call of the merchant has begun');
    assert.ok((await statusesOf(hanging)).every((status) => status === 'processing'));
    hold.release();
    await succeeded(hanging);
    assert.equal(ledger.length, HANGING + others.length);
  });
});
