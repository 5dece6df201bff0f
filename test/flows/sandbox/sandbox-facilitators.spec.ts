import assert from 'node:assert/strict';
import type { Dials } from '../../../lab/sandbox/dials/dials.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../../support/checkout.js';
import { resetTestSandbox, testSandbox } from '../../support/sandbox.js';
import { openSandboxCheckout, type SandboxCheckout } from '../../support/sandbox-checkout.js';
import { type Agent, fetchAgent } from '../../support/stock-agents.js';

/** Shorter than the delay of a slow facilitator, and long enough for a good one. */
const TIMEOUT_MS = 4000;
const HURT: Record<string, Partial<Dials>> = {
  'cuts every connection': { calls: 'drop_connection' },
  hangs: { calls: 'hang' },
  'answers 503': { calls: 'unavailable' },
  'is slow': { delayMs: 60_000 },
};

describe('payments in the sandbox with two facilitators', () => {
  let checkout: SandboxCheckout;
  let agent: Agent;

  beforeEach(async () => {
    const { secondFacilitator } = await testSandbox();
    checkout = await openSandboxCheckout({
      FACILITATOR_URL_2: secondFacilitator.url,
      FACILITATOR_TIMEOUT_MS: `${TIMEOUT_MS}`,
    });
    agent = await fetchAgent();
  });
  afterEach(async () => {
    await resetTestSandbox();
    await checkout.close();
  });

  async function pay(network: string): Promise<[status: number, facilitator: string | null | undefined]> {
    const { id } = await checkout.buildSession();
    const link = `http://127.0.0.1:${checkout.app.port}/c/${id}`;
    const { status } = await agent.pay(link, { network, symbol: 'USDC' });
    const [payment] = await checkout.payments(id);
    return [status, payment?.facilitator];
  }
  const nameOf = ({ url }: { url: string }): string => new URL(url).host;

  it('go through the first', async () => {
    const first = nameOf(checkout.sandbox.facilitator);
    for (const network of [BASE_SEPOLIA, SOLANA_DEVNET]) assert.deepEqual(await pay(network), [200, first]);
  });

  for (const [name, fault] of Object.entries(HURT)) {
    it(`go through the second while the first ${name}`, async () => {
      await checkout.sandbox.turn(fault);
      const second = nameOf(checkout.sandbox.secondFacilitator);
      assert.deepEqual(await pay(BASE_SEPOLIA), [200, second]);
    });
  }

  it('go through the second on Solana, whose buyers sign for a facilitator, after a 503', async () => {
    await pay(SOLANA_DEVNET);
    await checkout.sandbox.turn({ calls: 'drop_connection' });
    const second = nameOf(checkout.sandbox.secondFacilitator);
    assert.deepEqual(await pay(SOLANA_DEVNET), [503, undefined]);
    assert.deepEqual(await pay(SOLANA_DEVNET), [200, second]);
  });

  it('go through the first while the second is hurt', async () => {
    await checkout.sandbox.turn({ calls: 'unavailable' }, checkout.sandbox.secondFacilitator);
    assert.deepEqual(await pay(BASE_SEPOLIA), [200, nameOf(checkout.sandbox.facilitator)]);
  });
});
