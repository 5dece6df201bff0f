import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { NO_FAULTS } from '../../lab/sandbox/dials/dials.js';
import { LedgerRules } from '../../lab/world/facilitator/rules.js';
import { serveFacilitator } from '../../lab/world/facilitator/server.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { resetTestSandbox, testSandbox } from '../support/sandbox.js';

/** test/unit/x402/fake-facilitator.spec.ts has the facilitator's tokens. */
describe("the sandbox's facilitator", () => {
  it('restarts by itself after a crash, with an empty memory', async () => {
    let started = 0;
    const facilitator = await serveFacilitator({
      openRules() {
        started += 1;
        return new LedgerRules({ strict: false, feePayers: [] });
      },
    });
    const ask = async (): Promise<number> => (await fetch(`${facilitator.url}/supported`)).status;
    assert.equal(await ask(), 200);
    await facilitator.crash(50);
    await assert.rejects(ask());
    await eventually(async () => assert.equal(await ask(), 200));
    assert.equal(started, 2);
    await facilitator.close();
  });
});

describe("the sandbox's own endpoints", () => {
  afterEach(() => resetTestSandbox());

  async function ask(
    pathname: string,
    body: unknown,
    { type = 'application/json', at }: { type?: string; at?: { url: string } } = {},
  ): Promise<[number, Record<string, unknown>]> {
    const facilitator = at ?? (await testSandbox()).facilitator;
    const init = { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) };
    const response = await fetch(`${facilitator.url}${pathname}`, init);
    return [response.status, JSON.parse(await response.text())];
  }

  it('set known dials to allowed values', async () => {
    const [status, dials] = await ask('/sandbox/dials', { settle: 'pending', delayMs: 5 });
    assert.deepEqual([status, dials], [200, { ...NO_FAULTS, settle: 'pending', delayMs: 5 }]);
    for (const wrong of [{ settle: 'perhaps' }, { calls: 'never' }, { delayMs: -1 }, { speed: 1 }, []]) {
      const [refused, body] = await ask('/sandbox/dials', wrong);
      assert.equal(refused, 400);
      assert.match(String(body.error), /must be|There is no dial|Send/);
    }
    assert.equal((await testSandbox()).facilitator.dials.settle, 'pending');
  });

  it("are at each facilitator's port, with its own dials and the blocks of both", async () => {
    const { facilitator, secondFacilitator } = await testSandbox();
    await ask('/sandbox/dials', { calls: 'unavailable', blocks: 'slow' }, { at: secondFacilitator });
    const shown = async ({ url }: { url: string }): Promise<Record<string, unknown>> =>
      JSON.parse(await (await fetch(`${url}/sandbox`)).text());
    const [one, other] = [await shown(facilitator), await shown(secondFacilitator)];
    assert.deepEqual(one.dials, { ...NO_FAULTS, blocks: 'slow' });
    assert.deepEqual(other, { ...one, dials: { ...NO_FAULTS, calls: 'unavailable', blocks: 'slow' } });
    const supported = [facilitator, secondFacilitator].map(({ url }) => fetch(`${url}/supported`));
    const statuses = (await Promise.all(supported)).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 503]);
  });

  it('serve the calls that hang when the dial is set back', async () => {
    const { facilitator } = await testSandbox();
    await ask('/sandbox/dials', { calls: 'hang' });
    const hanging = fetch(`${facilitator.url}/supported`);
    await ask('/sandbox/dials', { delayMs: 1 });
    const none = Symbol('no answer');
    assert.equal(await Promise.race([hanging, pause(50, none)]), none);
    await ask('/sandbox/dials', { calls: 'answer' });
    assert.equal((await hanging).status, 200);
  });

  it('fund a wallet of either family, and refuse other addresses', async () => {
    const evm = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
    assert.deepEqual(await ask('/sandbox/fund', { address: evm }), [200, { funded: evm }]);
    const solana = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
    assert.equal((await ask('/sandbox/fund', { address: solana }))[0], 200);
    assert.equal((await ask('/sandbox/fund', { address: 'me' }))[0], 400);
  });

  it('ignore an HTML form post, which a foreign page could send', async () => {
    assert.equal((await ask('/sandbox/dials', { settle: 'die' }, { type: 'text/plain' }))[0], 404);
  });
});
