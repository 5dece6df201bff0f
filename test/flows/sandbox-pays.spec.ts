import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { toBase58 } from '../../lab/sandbox/solana/base58.js';
import { EVM_BUYER_KEY } from '../../lab/sandbox/wallets.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import type { TokenSymbol } from '../../shared/chains/networks.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from '../support/checkout.js';
import { told } from '../support/link-answers.js';
import { resetTestSandbox } from '../support/sandbox.js';
import { openSandboxCheckout, type SandboxCheckout } from '../support/sandbox-checkout.js';
import {
  type Agent,
  type AgentAnswer,
  axiosAgent,
  fetchAgent,
  type Wanted,
} from '../support/stock-agents.js';

const OFFERS: [network: string, name: string, symbols: TokenSymbol[]][] = [
  [BASE_SEPOLIA, 'Base Sepolia', ['USDC']],
  [X_LAYER_TESTNET, 'X Layer Testnet', ['USDC', 'USDT', 'USDG']],
  [SOLANA_DEVNET, 'Solana Devnet', ['USDC', 'USDG']],
];
const ON_BASE: Wanted = { network: BASE_SEPOLIA, symbol: 'USDC' };
const ON_SOLANA: Wanted = { network: SOLANA_DEVNET, symbol: 'USDC' };
const FAMILIES: [string, Wanted][] = [
  ['EVM', ON_BASE],
  ['Solana', ON_SOLANA],
];
/** Longer than the pause between two looks at a chain. */
const BETWEEN_LOOKS_MS = 30_000;
/** How long a payment may take that the chain has to tell about. */
const PATIENCE_MS = 15_000;

describe('payments on the sandbox', function () {
  this.timeout(60_000);
  let checkout: SandboxCheckout;
  let hurried: SandboxCheckout;
  let agent: Agent;
  const buyer = privateKeyToAccount(EVM_BUYER_KEY);

  before(async () => {
    checkout = await openSandboxCheckout();
    // A person's patience: what takes longer is answered 202.
    hurried = await openSandboxCheckout({ SETTLE_WAIT_MS: '300', FACILITATOR_SETTLE_TIMEOUT_MS: '5000' });
    agent = await fetchAgent();
  });
  afterEach(async () => {
    resetClock();
    await resetTestSandbox();
  });
  after(async () => {
    await hurried.close();
    await checkout.close();
  });

  const linkOf = (on: SandboxCheckout, id: string): string => `http://127.0.0.1:${on.app.port}/c/${id}`;

  async function payNew(on: SandboxCheckout, wanted: Wanted, by = agent): Promise<[string, AgentAnswer]> {
    const { id } = await on.buildSession();
    return [id, await by.pay(linkOf(on, id), wanted)];
  }

  async function assertPaid(on: SandboxCheckout, id: string): Promise<void> {
    await eventually(
      async () =>
        assert.deepEqual(await on.state(id), {
          session: 'complete',
          payments: ['succeeded'],
          events: ['checkout.session.completed'],
        }),
      PATIENCE_MS,
    );
    const { status, body } = await on.visit(id);
    assert.deepEqual([status, body.status], [200, 'complete']);
  }

  const agents: Record<string, () => Promise<Agent>> = {
    '@x402/fetch': fetchAgent,
    '@x402/axios': axiosAgent,
  };
  for (const [name, open] of Object.entries(agents)) {
    describe(`by ${name}`, () => {
      for (const [network, where, symbols] of OFFERS) {
        for (const symbol of symbols) {
          it(`in ${symbol} on ${where}`, async () => {
            const [id, answer] = await payNew(checkout, { network, symbol }, await open());
            assert.equal(answer.status, 200, JSON.stringify(answer.body));
            assert.equal(answer.transaction, answer.body.session?.payment.transaction);
            await assertPaid(checkout, id);
          });
        }
      }
    });
  }

  for (const [family, wanted] of FAMILIES) {
    describe(`on ${family}`, () => {
      it('answers 202 while blocks are slow, and then 200', async () => {
        await hurried.sandbox.turn({ blocks: 'slow' });
        const [id, answer] = await payNew(hurried, wanted);
        assert.deepEqual([answer.status, answer.body.status], [202, 'processing']);
        await assertPaid(hurried, id);
      });

      it('finds on the chain what its facilitator called pending', async () => {
        await hurried.sandbox.turn({ settle: 'pending' });
        const [id, answer] = await payNew(hurried, wanted);
        assert.equal(answer.status, 202);
        await assertPaid(hurried, id);
      });

      it('finds on the chain what its facilitator never answered', async () => {
        await hurried.sandbox.turn({ settle: 'drop_connection' });
        const [id] = await payNew(hurried, wanted);
        await assertPaid(hurried, id);
      });

      it('finds on the chain what its facilitator broadcast before it died', async () => {
        await hurried.sandbox.turn({ settle: 'die', downMs: 600_000 });
        const [id, answer] = await payNew(hurried, wanted);
        assert.equal(answer.status, 202);
        // On a slow machine the answer comes before it has broadcast, and died.
        await eventually(() =>
          assert.rejects(fetch(`${hurried.sandbox.facilitator.url}/supported`), 'it is still there'),
        );
        await assertPaid(hurried, id);
        const payment = await hurried.payment(id);
        assert.equal(payment.settleCalls, 1);
      });

      it('asks for payment again when there is not enough money, and nothing has happened', async () => {
        const evm = generatePrivateKey();
        const solana = Keypair.generate();
        const { chains } = checkout.sandbox;
        chains.solana.openTokenAccount(
          solana.publicKey.toBase58(),
          '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
        );
        const poor = await fetchAgent({ evm, solana: toBase58(solana.secretKey) });
        const [id, answer] = await payNew(checkout, wanted, poor);
        assert.deepEqual([answer.status, answer.body.code], [402, 'insufficient_funds']);
        assert.deepEqual(await checkout.state(id), { session: 'open', payments: [], events: [] });
      });
    });
  }

  it('refuses an authorization whose nonce the chain has seen', async () => {
    const { id } = await checkout.buildSession();
    const signed = await checkout.sign(id, { account: buyer });
    const body = {
      x402Version: 2,
      paymentPayload: { x402Version: 2, ...signed },
      paymentRequirements: signed.accepted,
    };
    const settled = await fetch(`${checkout.sandbox.facilitator.url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(JSON.parse(await settled.text()).success, true);
    const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': signed.header });
    assert.equal(told(res), '402 invalid_transaction_state');
    assert.deepEqual(await checkout.state(id), { session: 'open', payments: [], events: [] });
  });

  it('refuses an authorization that has ended, or is about to', async () => {
    const { id } = await checkout.buildSession();
    const seconds = BigInt(Math.floor(nowMs() / 1000));
    for (const validBefore of [seconds - 1n, seconds + 3n]) {
      const res = await checkout.pay(id, { account: buyer, validBefore });
      assert.equal(told(res), '402 invalid_exact_evm_payload_authorization_valid_before');
    }
    assert.deepEqual(await checkout.state(id), { session: 'open', payments: [], events: [] });
  });

  it('opens the session again when an EVM transaction is lost and its authorization has ended', async function () {
    this.timeout(180_000);
    await hurried.sandbox.turn({ settle: 'lose_transaction', confirmWithinMs: 500 });
    const { id } = await hurried.buildSession();
    // The facilitator takes none that ends in less than 6 s.
    const validBefore = BigInt(Math.floor(nowMs() / 1000) + 7);
    assert.equal((await hurried.pay(id, { account: buyer, validBefore })).status, 202);
    await hurried.afterSettling(id);
    const { client } = hurried.sandbox.chains.baseSepolia;
    // An idle chain has a block every 30 s.
    await eventually(async () => assert.ok((await client.getBlock()).timestamp > validBefore), 100_000);
    advanceClock(BETWEEN_LOOKS_MS);
    await hurried.becomes(id, { session: 'open', payments: ['failed'], events: [] });
    assert.equal((await hurried.visit(id)).status, 402);
  });

  it('opens the session again when a Solana transaction is lost and its blockhash is too old', async () => {
    await hurried.sandbox.turn({ settle: 'lose_transaction', confirmWithinMs: 500 });
    const [id, answer] = await payNew(hurried, ON_SOLANA);
    assert.equal(answer.status, 202);
    await hurried.afterSettling(id);
    // By the chain's own time, since the first look.
    await hurried.afterAnotherLook(id);
    advanceClock(240_000);
    await hurried.becomes(id, { session: 'open', payments: ['failed'], events: [] });
  });
});
