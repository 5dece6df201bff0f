import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createDemoSession } from '../../../local/demo/demo-session.js';
import { BASE_SEPOLIA } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { openSandboxCheckout, type SandboxCheckout } from '../../support/sandbox-checkout.js';
import { fetchAgent } from '../../support/stock-agents.js';

describe('the demo order of npm start', () => {
  const checkout = forAllTests(() => openSandboxCheckout({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }));
  const guarded = forAllTests(openSandboxCheckout);

  async function order(on: SandboxCheckout, hasPicture = true): Promise<string> {
    const picture = hasPicture ? `${on.sandbox.facilitator.url}/sandbox/coffee.png` : undefined;
    const { testKey } = on.merchant;
    const baseUrl = `http://127.0.0.1:${on.app.port}`;
    return await createDemoSession(on.app.db, { testKey, baseUrl, picture });
  }
  const pictureOf = async (link: string): Promise<[type: string | null, bytes: Buffer]> => {
    const response = await fetch(`${link}/images/0`);
    return [response.headers.get('content-type'), Buffer.from(await response.arrayBuffer())];
  };
  const pageOf = async (link: string): Promise<string> =>
    await (await fetch(link, { headers: { accept: 'text/html' } })).text();

  it("shows a picture that the service fetches from the sandbox, and is paid like a merchant's", async () => {
    const link = await order(checkout);
    assert.match(await pageOf(link), /<img src="\S+\/images\/0"[^>]*>.*Coffee/);
    const expected = await readFile(new URL('../../../lab/sandbox/demo-order/coffee.png', import.meta.url));
    assert.deepEqual(await pictureOf(link), ['image/png', expected]);
    const { status } = await (await fetchAgent()).pay(link, { network: BASE_SEPOLIA, symbol: 'USDC' });
    assert.equal(status, 200);
  });

  it('shows no picture where the service may not reach private addresses', async () => {
    const [type] = await pictureOf(await order(guarded));
    assert.equal(type, 'image/gif');
    assert.doesNotMatch(await pageOf(await order(guarded, false)), /\/images\/0/);
  });
});
