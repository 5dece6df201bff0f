import assert from 'node:assert/strict';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Behaviour } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { Payment } from '../../../shared/payments/model.js';
import type { EvmPayload, FacilitatorRequest } from '../../../shared/x402/wire.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const BUYERS = 30;
const ASKS_TO_WAIT: Behaviour = {
  works: false,
  answer: () => ({ status: 503, body: 'try later', headers: { 'retry-after': '60' } }),
};

const newAccount = () => privateKeyToAccount(generatePrivateKey());

describe('a payer who is answered 503 with Retry-After: 60, and asks again and again', () => {
  const flow = forAllTests(() => openMoneyFlow('refused_payer', { worker: false }));

  after(killProcesses);

  it("holds up no buyer of other merchants, whatever merchants' links the payer opens", async () => {
    const payer = newAccount();
    const { verify, calls } = flow.facilitator;
    const isPayers = (body: unknown): boolean => {
      const { payload } = (body as FacilitatorRequest).paymentPayload;
      return (payload as EvmPayload).authorization.from === payer.address;
    };
    verify.choose((body) => (isPayers(body) ? ASKS_TO_WAIT : undefined));
    const [{ port }] = await Promise.all([startWebProcess(flow.settings), startWorkerProcess(flow.settings)]);
    const send = (id: string, header: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/c/${id}`, { headers: { 'PAYMENT-SIGNATURE': header } });

    const open = () => buildMerchant(flow.db, { evmWallet: newAccount().address });
    const visited = [await open(), await open()];
    const refused = await Promise.all(
      visited.map(async ({ accountId }) => {
        const { id } = await buildSession(flow.db, accountId);
        const { header } = await flow.sign(id, { account: payer });
        return async () => assert.equal((await send(id, header)).status, 503);
      }),
    );
    const shops = [await open(), await open()];
    const paid: string[] = [];
    for (let buyer = 0; buyer < BUYERS; buyer += 1) {
      await Promise.all(refused.map((ask) => ask()));
      const { id } = await buildSession(flow.db, shops[buyer % 2]?.accountId ?? assert.fail());
      const { header } = await flow.sign(id);
      const { status } = await send(id, header);
      assert.ok(status === 200 || status === 202, `buyer ${buyer}: ${status}`);
      paid.push(id);
    }
    await eventually(async () => {
      const payments = await Payment.query(flow.db).whereIn('payableId', paid);
      assert.deepEqual(
        payments.map(({ status }) => status),
        paid.map(() => 'succeeded'),
      );
    });
    const asked = calls.verify.filter(({ body }) => isPayers(body)).length;
    assert.ok(asked < BUYERS / 2, `the facilitator was asked ${asked} times about the payer`);
  });
});
