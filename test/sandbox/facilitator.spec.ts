import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { NO_FAULTS } from '../../lab/sandbox/dials/dials.js';
import type { Rules } from '../../lab/world/facilitator/rules.js';
import { type FacilitatorServer, serveFacilitator } from '../../lab/world/facilitator/server.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { createFacilitator } from '../../shared/x402/facilitator/facilitator.js';
import type { FacilitatorRequest } from '../../shared/x402/wire.js';
import { resetTestSandbox, testSandbox } from '../support/sandbox.js';

const NETWORK = 'eip155:84532';
const REQUIREMENTS = {
  scheme: 'exact' as const,
  network: NETWORK,
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '1',
  payTo: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
};
const REQUEST = {
  x402Version: 2,
  paymentPayload: { x402Version: 2, accepted: REQUIREMENTS, payload: { signature: '0x', authorization: {} } },
  paymentRequirements: REQUIREMENTS,
};
const YES: Rules = {
  supported: () => ({ kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK }] }),
  verify: async () => ({ isValid: true }),
  settle: async () => ({ success: true, transaction: '0x1', network: NETWORK }),
};

describe("the sandbox's facilitator", () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  let facilitator: FacilitatorServer;
  let started = 0;

  beforeEach(async () => {
    started = 0;
    facilitator = await serveFacilitator({
      tokens: { keyId: 'fk_1', publicKey, onSupportedToo: true },
      openRules() {
        started += 1;
        return YES;
      },
    });
  });
  afterEach(() => facilitator.close());

  function clientWith(key: KeyObject, id = 'fk_1') {
    const secret = `svc_sk_${key.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`;
    return createFacilitator({
      name: 'sandbox',
      variable: 'FACILITATOR_URL',
      url: facilitator.url,
      auth: { kind: 'svc', id, secret },
      timeoutMs: 2000,
      settleTimeoutMs: 2000,
    });
  }

  async function post(endpoint: string, body: unknown): Promise<number> {
    const init = { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`${facilitator.url}${endpoint}`, init)).status;
  }

  it('answers callers that sign with the expected key', async () => {
    const client = clientWith(privateKey);
    assert.deepEqual([...((await client.supported())?.keys() ?? [])], [NETWORK]);
    const verdict = await client.verify(REQUEST as unknown as FacilitatorRequest);
    assert.equal(verdict.kind, 'valid');
    await client.close();
  });

  it('refuses callers that sign with another key, or with another key id', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    for (const client of [clientWith(other), clientWith(privateKey, 'fk_2')]) {
      assert.equal(await client.supported(), undefined);
      await client.close();
    }
  });

  it('checks the body before the token', async () => {
    assert.equal(await post('/verify', REQUEST), 401);
    assert.equal(await post('/verify', { ...REQUEST, paymentPayload: {} }), 400);
    assert.equal(await post('/settle', 'no object'), 400);
  });

  it('restarts by itself after a crash', async () => {
    await facilitator.crash(50);
    await assert.rejects(post('/verify', REQUEST));
    await eventually(async () => assert.equal(await post('/verify', REQUEST), 401));
    assert.equal(started, 2);
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
    assert.deepEqual(
      (await Promise.all(supported)).map(({ status }) => status),
      [200, 503],
    );
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
    assert.equal(
      (await ask('/sandbox/fund', { address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' }))[0],
      200,
    );
    assert.equal((await ask('/sandbox/fund', { address: 'me' }))[0], 400);
  });

  it('ignore an HTML form post, which a foreign page could send', async () => {
    assert.equal((await ask('/sandbox/dials', { settle: 'die' }, { type: 'text/plain' }))[0], 404);
  });
});
