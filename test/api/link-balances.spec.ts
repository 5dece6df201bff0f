import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import request from 'supertest';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { evmBalances } from '../../lab/world/chains/balances.js';
import { RpcEndpoint } from '../../lab/world/chains/rpc-endpoint.js';
import { SHARED_MS } from '../../shared/chains/rpc/throttled-endpoint.js';
import { MAX_PAGE_RPC_CALLS } from '../../shared/limits/bounds.js';
import { newId } from '../../shared/values/ids.js';
import {
  BASE_SEPOLIA,
  type Checkout,
  openCheckout,
  SOLANA_DEVNET,
  X_LAYER_TESTNET,
} from '../support/checkout.js';

const RICH = 25_000_000n;
/** A hanging call is given up after 1500 ms, and a timer may fire a little early. */
const GIVEN_UP_AFTER_MS = 1490;

/** Base Sepolia is served here; X Layer Testnet answers as each test sets it up. */
describe('the balances of a wallet', () => {
  let checkout: Checkout;
  let base: RpcEndpoint;
  let xLayer: RpcEndpoint;
  let id: string;

  const startChain = (chainId: number): Promise<RpcEndpoint> =>
    RpcEndpoint.start(evmBalances({ chainId }, () => RICH));
  beforeEach(async () => {
    [base, xLayer] = await Promise.all([startChain(84532), startChain(1952)]);
    const environment = { RPC_URL_EIP155_84532: base.url, RPC_URL_EIP155_1952: xLayer.url };
    checkout = await openCheckout({ worker: false, environment });
    ({ id } = await checkout.buildSession());
  });
  afterEach(async () => {
    await checkout.close();
    await Promise.all([base.close(), xLayer.close()]);
  });

  const wallet = (): Hex => privateKeyToAddress(generatePrivateKey());
  const ask = (address: string, session = id) =>
    request(checkout.app.server).get(`/c/${session}/balances`).query({ address });
  async function read(address: string = wallet()): Promise<Record<string, Set<string | null>>> {
    const { body } = await ask(address).expect(200);
    const found: Record<string, Set<string | null>> = {};
    for (const { network, balance } of body.balances) {
      found[network] ??= new Set();
      found[network].add(balance);
    }
    return found;
  }

  const RICH_HERE = new Set([RICH.toString()]);
  const UNKNOWN = new Set([null]);

  it('are read for every token on every network of its family, with one request to each network', async () => {
    const requests: string[] = [];
    xLayer.onCall = (method) => requests.push(method);
    const found = await read();
    assert.deepEqual([found[BASE_SEPOLIA], found[X_LAYER_TESTNET]], [RICH_HERE, RICH_HERE]);
    assert.equal(Object.keys(found).length, 8);
    assert.deepEqual(requests.sort(), ['eth_call', 'eth_call', 'eth_call', 'eth_chainId']);
    const { body } = await ask(wallet()).expect(200);
    const { accepts } = await checkout.quote(id);
    assert.deepEqual(
      body.balances.map(({ network, asset }: Record<string, string>) => [network, asset]),
      accepts
        .filter(({ network }) => network.startsWith('eip155:'))
        .map(({ network, asset }) => [network, asset]),
    );
  });

  for (const fault of ['hang', 'stall', 'cut', 'http_500', 'garbage', 'wrong_shape'] as const) {
    it(`are null, not zero, when the endpoint fails like this: ${fault}`, async () => {
      xLayer.fail(fault);
      const found = await read();
      assert.deepEqual([found[BASE_SEPOLIA], found[X_LAYER_TESTNET]], [RICH_HERE, UNKNOWN]);
    });
  }

  it('are logged as unreadable, with the id of the link', async () => {
    const lines: object[] = [];
    checkout.app.logger.info = (line: object) => void lines.push(line);
    xLayer.fail('http_500');
    await read();
    const event = 'balances.chain_unreadable';
    const logged = lines.filter((line) => 'network' in line && line.network === X_LAYER_TESTNET);
    const reason = 'the endpoint answered HTTP 500';
    assert.deepEqual(logged, [{ event, session: id, network: X_LAYER_TESTNET, reason }]);
  });

  it('are null when the endpoint serves another chain', async () => {
    const other = await startChain(1);
    await checkout.close();
    checkout = await openCheckout({ worker: false, environment: { RPC_URL_EIP155_84532: other.url } });
    ({ id } = await checkout.buildSession());
    assert.deepEqual((await read())[BASE_SEPOLIA], UNKNOWN);
    await other.close();
  });

  it('are null on Solana while its endpoint does not answer; other families are not listed', async () => {
    const found = await read(Keypair.generate().publicKey.toBase58());
    assert.deepEqual(found, { [SOLANA_DEVNET]: UNKNOWN });
  });

  it('are read once for concurrent requests, failures included', async () => {
    const address = wallet();
    const beganAt = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => read(address)));
    const seconds = 1 + Math.floor((performance.now() - beganAt) / SHARED_MS);
    assert.ok(base.callsOf('eth_chainId') <= seconds);
    base.fail('http_500');
    for (let n = 0; n < 10; n += 1) await read();
    assert.ok(base.callsOf('eth_chainId') <= 4, `${base.callsOf('eth_chainId')} calls`);
  });

  it('never exceed the limit of concurrent calls', async () => {
    await checkout.close();
    const environment = { RPC_URL_EIP155_84532: base.url, RATE_LIMIT_LINK_PER_MINUTE: '100000' };
    checkout = await openCheckout({ worker: false, environment });
    ({ id } = await checkout.buildSession());
    base.fail('hang');
    const beganAt = performance.now();
    const found = await Promise.all(Array.from({ length: 3 * MAX_PAGE_RPC_CALLS }, () => read()));
    for (const { [BASE_SEPOLIA]: balances } of found) assert.deepEqual(balances, UNKNOWN);
    // On a busy machine the last requests come when the first calls have been given up.
    const rounds = 1 + Math.floor((performance.now() - beganAt) / GIVEN_UP_AFTER_MS);
    assert.ok(base.callsOf('eth_chainId') <= rounds * MAX_PAGE_RPC_CALLS);
  });

  it('require one address, and set no cookie', async () => {
    const address = wallet();
    for (const wrong of ['', 'x', `${address}0`, '0x0000000000000000000000000000000000000000']) {
      const { body } = await ask(wrong).expect(400);
      assert.equal(body.error.code, 'invalid_payment_payload');
      assert.match(body.error.message, /`address`/);
    }
    await request(checkout.app.server)
      .get(`/c/${id}/balances?address=${address}&address=${address}`)
      .expect(400);
    await ask(address, newId('cs_test_')).expect(404);
    await ask(address, (await checkout.buildSession({ status: 'expired' })).id).expect(410);
    await request(checkout.app.server).post(`/c/${id}/balances`).expect(405);
    const res = await ask(address.toLowerCase()).expect(200);
    assert.equal(res.get('Set-Cookie'), undefined);
    assert.equal(res.get('Cache-Control'), 'no-store');
  });
});
