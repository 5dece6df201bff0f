import assert from 'node:assert/strict';
import { x402Client as AxiosClient, wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import axios from 'axios';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import type { Cut, CutPoint } from '../../../lab/world/proxy/faults.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { BUYER, openCheckout, PAID } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { describeBothKinds } from '../../support/kinds.js';
import { decodeHeader } from '../../support/link-answers.js';
import { testServices } from '../../support/suite.js';

const PAYMENT = /^payment-signature: *(\S+)\r?$/im;

interface Received {
  status: number;
  /** The PAYMENT-RESPONSE header. */
  receipt: string | undefined;
}

/** An agent with a stock x402 client, which sends a payment again as its HTTP library sends requests. */
interface Agent {
  /** The whole exchange from the first GET on; rejects when an answer is incomplete. */
  pay(link: string): Promise<Received>;
  send(link: string, payment: string): Promise<Received>;
  /** The status for a payment that has already paid. */
  repeated: 200 | 409;
}

function fetchAgent(identifier?: string): Agent {
  const received = async (response: Response): Promise<Received> => {
    await response.text();
    return { status: response.status, receipt: response.headers.get('PAYMENT-RESPONSE') ?? undefined };
  };
  return {
    async pay(link) {
      const client = new x402Client().register('eip155:*', new ExactEvmScheme(BUYER));
      client.setSpendControls({ maxAmountPerPayment: '$100' });
      if (identifier !== undefined) {
        client.registerExtension({
          key: 'payment-identifier',
          enrichPaymentPayload: async (payload) => {
            const extensions = structuredClone(payload.extensions ?? {});
            return { ...payload, extensions: appendPaymentIdentifierToExtensions(extensions, identifier) };
          },
        });
      }
      return await received(await wrapFetchWithPayment(fetch, client)(link));
    },
    send: async (link, payment) =>
      await received(await fetch(link, { headers: { 'PAYMENT-SIGNATURE': payment } })),
    repeated: identifier === undefined ? 409 : 200,
  };
}

function axiosAgent(): Agent {
  const received = ({ status, headers }: { status: number; headers: Record<string, unknown> }): Received => {
    const receipt = headers['payment-response'];
    return { status, receipt: typeof receipt === 'string' ? receipt : undefined };
  };
  return {
    async pay(link) {
      const client = new AxiosClient().register('eip155:*', new ExactEvmScheme(BUYER));
      const instance = axios.create();
      const answer = await wrapAxiosWithPayment(instance, client)
        .get(link)
        .catch((error: unknown) => {
          // Axios also throws for a complete answer that is not 2xx.
          const { code, response } = axios.isAxiosError(error) ? error : {};
          if (code === 'ERR_BAD_REQUEST' && response !== undefined) return response;
          throw error;
        });
      return received(answer as never);
    },
    async send(link, payment) {
      const options = { headers: { 'PAYMENT-SIGNATURE': payment }, validateStatus: () => true };
      return received((await axios.get(link, options)) as never);
    },
    repeated: 409,
  };
}

const AGENTS: Record<string, () => Agent> = {
  '@x402/fetch': fetchAgent,
  '@x402/axios': axiosAgent,
  '@x402/fetch with a payment identifier': () => fetchAgent(generatePaymentId()),
};

/**
 * A point at which the connection is cut: whether the payment was claimed before it, and how the service goes on
 * when the agent retries.
 */
interface Point {
  isClaimed: boolean;
  /** Every agent loses its answer there, and for either kind; at the other points it is the first agent that pays a session. */
  forAll?: true;
  lose(): Promise<{ release?: () => Promise<void> | void }>;
}

describeBothKinds('an agent whose answer was lost', (kind) => {
  const checkout = forAllTests(() => openCheckout({ kind }));
  let proxy: TcpProxy;
  let cut: Cut;
  before(async () => {
    proxy = await TcpProxy.start(`http://127.0.0.1:${checkout.app.port}`);
  });
  afterEach(async () => {
    checkout.facilitator.verify.releaseAll();
    checkout.facilitator.settle.releaseAll();
    await PausePoint.removeAll();
  });
  after(async () => {
    await proxy.refuse();
  });

  const cutAt = (point: CutPoint) => async () => {
    cut = proxy.cutNext(PAYMENT, point);
    return {};
  };
  /** Cuts while the facilitator is being called; its answer comes when it is released. */
  const cutAtCall = (endpoint: 'verify' | 'settle') => async () => {
    const { facilitator } = checkout;
    const hold = facilitator[endpoint].holdNext();
    cut = proxy.cutNext(PAYMENT, {
      when: facilitator.waitForCall(endpoint, facilitator.calls[endpoint].length + 1),
    });
    return { release: () => hold.release() };
  };
  /** Cuts when the money has moved and the service is about to record it. */
  const cutBeforeVerdict = async () => {
    const point = await PausePoint.put(testServices().databaseUrl, {
      table: 'payables',
      on: 'UPDATE',
      when: `NEW.status = 'complete'`,
      moment: 'statement',
    });
    cut = proxy.cutNext(PAYMENT, { when: point.reached() });
    return { release: () => point.release() };
  };

  const POINTS: Record<string, Point> = {
    'in the request’s first line': { isClaimed: false, lose: cutAt({ requestBytes: 9 }) },
    'in the middle of the payment header': { isClaimed: false, lose: cutAt({ requestBytes: 900 }) },
    'a byte before the request’s end': { isClaimed: false, lose: cutAt({ requestBytes: -1 }) },
    'before the claim, at /verify': { isClaimed: false, forAll: true, lose: () => cutAtCall('verify')() },
    'after the claim, at /settle': { isClaimed: true, forAll: true, lose: () => cutAtCall('settle')() },
    'after the settlement': { isClaimed: true, lose: cutBeforeVerdict },
    'before the answer’s first byte': { isClaimed: true, lose: cutAt({ answerBytes: 0 }) },
    'in the answer’s first line': { isClaimed: true, lose: cutAt({ answerBytes: 12 }) },
    'in the answer’s headers': { isClaimed: true, lose: cutAt({ answerBytes: 400 }) },
    'in the answer’s body': { isClaimed: true, forAll: true, lose: cutAt({ answerBytes: -300 }) },
    'a byte before the answer’s end': { isClaimed: true, lose: cutAt({ answerBytes: -1 }) },
  };

  for (const [agentName, newAgent] of Object.entries(AGENTS)) {
    const isFirst = kind === 'session' && agentName === '@x402/fetch';
    for (const [point, { isClaimed, forAll, lose }] of Object.entries(POINTS)) {
      if (!isFirst && !forAll) continue;
      describe(`of ${agentName}, with the connection cut ${point},`, () => {
        let agent: Agent;
        let link: string;
        let id: string;
        let moved: number;
        let release: () => Promise<void> | void;

        beforeEach(async () => {
          agent = newAgent();
          ({ id } = await checkout.buildSession());
          link = `${proxy.url}/c/${id}`;
          moved = checkout.facilitator.ledger.length;
          const lost = await lose();
          release = lost.release ?? (() => {});
          await assert.rejects(agent.pay(link), 'the answer came through');
          cut.matched();
        });

        /** Asks until there is a receipt or a final answer; then exactly this payment has moved money. */
        async function untilReceipt(ask: () => Promise<Received>): Promise<Received> {
          const received = await eventually(async () => {
            const answer = await ask();
            const isRetryable = [202, 409].includes(answer.status) && answer.receipt === undefined;
            assert.equal(isRetryable, false, `still ${answer.status}`);
            return answer;
          });
          await release();
          const receipt = decodeHeader(received.receipt ?? '') as { success: boolean; transaction: string };
          const movements = checkout.facilitator.ledger.slice(moved);
          assert.deepEqual(
            movements.map(({ transaction }) => transaction),
            [receipt.transaction],
          );
          assert.equal(receipt.success, true);
          assert.deepEqual(await checkout.state(id), PAID);
          return received;
        }

        it('gets its receipt by sending the same payload again, and pays once', async () => {
          const payment = cut.matched();
          // The held first request would hold the second one as well, unless it was cut before the claim.
          if (isClaimed) await release();
          const { status } = await untilReceipt(() => agent.send(link, payment));
          assert.equal(status, isClaimed ? agent.repeated : 200);
          const again = await agent.send(link, payment);
          assert.equal(again.status, agent.repeated);
          assert.ok(again.receipt);
        });

        it('gets its receipt by starting again, and pays once', async () => {
          if (isClaimed) await release();
          const { status } = await untilReceipt(() => agent.pay(link));
          assert.equal(status, 200);
          const lost = await agent.send(link, cut.matched());
          // The agent's first signature is refused now, unless it has paid.
          assert.deepEqual(
            [lost.status, lost.receipt !== undefined],
            [isClaimed ? agent.repeated : 409, isClaimed],
          );
        });
      });
    }
  }
});
