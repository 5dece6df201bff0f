import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Sandbox } from '../../lab/sandbox/sandbox.js';
import { closeServer, listen } from '../../lab/world/http/listen.js';
import { testSandbox } from '../support/sandbox.js';

interface Answer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** fetch overrides the Host and Origin headers. */
function ask(url: string, method: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
  const options = { method, headers: { 'content-type': 'application/json', ...headers } };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, async (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      resolve({ status, headers: answered, text: await text(response) });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const call = (method: string, params: unknown[] = []): object => ({ jsonrpc: '2.0', id: 1, method, params });

describe('the sandbox, called by web pages', () => {
  let sandbox: Sandbox;
  let places: [name: string, url: string, body: object][];
  before(async () => {
    sandbox = await testSandbox();
    const { facilitator, chains } = sandbox;
    places = [
      ['Base Sepolia', chains.baseSepolia.url, call('eth_chainId')],
      ['X Layer Testnet', chains.xLayerTestnet.url, call('eth_chainId')],
      ['Solana', chains.solana.url, call('getGenesisHash')],
      ['the facilitator', `${facilitator.url}/verify`, {}],
      ["the sandbox's dials", `${facilitator.url}/sandbox/dials`, {}],
      ["the page's wallets", `${facilitator.url}/sandbox/wallets`, { method: 'eth_accounts' }],
    ];
  });

  it('refuses pages of other origins, under any host name of this machine', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'http://localhost.evil.example' },
      { origin: 'http://127.0.0.1.evil.example' },
      { origin: 'null' },
      { host: 'evil.example:8545' },
      { host: 'evil.example:8545', origin: 'http://evil.example:8545' },
      { origin: 'https://evil.example', 'content-type': 'text/plain' },
    ];
    for (const [name, url, body] of places) {
      for (const headers of foreign) {
        for (const method of ['POST', 'OPTIONS']) {
          const sent = method === 'POST' ? body : undefined;
          const { status, headers: answered } = await ask(url, method, headers, sent);
          assert.equal(status, 403, `${name}: ${method} ${JSON.stringify(headers)}`);
          assert.equal(answered['access-control-allow-origin'], undefined);
        }
      }
    }
  });

  it('answers pages of this machine, extensions and programs', async () => {
    for (const [name, url, body] of places) {
      const { port } = new URL(url);
      for (const headers of [
        {},
        { host: `localhost:${port}` },
        { origin: 'http://localhost:3000' },
        { origin: 'http://127.0.0.1:3000' },
        { origin: 'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn' },
      ]) {
        const { status } = await ask(url, 'POST', headers, body);
        assert.notEqual(status, 403, `${name}: ${JSON.stringify(headers)}`);
      }
    }
  });

  it('accepts no WebSocket, which browsers open across origins', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const headers = { ...upgrade, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' };
    for (const chain of sandbox.chains.evm) {
      assert.equal((await ask(chain.url, 'GET', headers)).status, 405);
    }
  });

  it('forwards no method that controls its chains or makes them fetch an address', async () => {
    let fetched = 0;
    const server = createServer((_request, response) => {
      fetched += 1;
      response.end('{}');
    });
    const port = await listen(server, 0);
    const jsonRpcUrl = `http://127.0.0.1:${port}`;
    const forking = { forking: { jsonRpcUrl } };
    const { baseSepolia } = sandbox.chains;
    try {
      for (const body of [
        call('anvil_reset', [forking]),
        call('hardhat_reset', [forking]),
        call('anvil_setRpcUrl', [jsonRpcUrl]),
        call('anvil_mine'),
        call('evm_mine'),
        [call('eth_chainId'), call('anvil_reset', [forking])],
      ]) {
        const answer = await ask(baseSepolia.url, 'POST', {}, body);
        const answers = [JSON.parse(answer.text)].flat();
        assert.equal(answers.at(-1).error.code, -32601, answer.text);
      }
      // The sandbox's own client may call any method, and still cannot reach the address.
      await assert.rejects(baseSepolia.client.reset({ jsonRpcUrl }));
      assert.equal(fetched, 0);
    } finally {
      await closeServer(server);
    }
  });

  it('answers a malformed request as a node does', async () => {
    const { url } = sandbox.chains.baseSepolia;
    for (const body of [{}, [7], 'eth_chainId', call('')]) {
      const answered = await ask(url, 'POST', {}, body);
      assert.equal(answered.status, 200);
      const [answer] = [JSON.parse(answered.text)].flat();
      assert.ok([-32600, -32601].includes(answer.error.code), answered.text);
    }
    assert.equal((await ask(url, 'GET', {})).status, 405);
    const batch = await ask(url, 'POST', {}, [call('eth_chainId'), call('net_version')]);
    assert.equal(JSON.parse(batch.text).length, 2);
  });
});
