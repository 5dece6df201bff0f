import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { EVM_BUYER_KEY } from '../../../lab/sandbox/networks/wallets.js';
import { toBase58 } from '../../../lab/world/chains/base58.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { findNetwork, type TokenSymbol } from '../../../shared/chains/networks/networks.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import {
  BASE_SEPOLIA,
  FAILED,
  PAID,
  SOLANA_DEVNET,
  UNTOUCHED,
  X_LAYER_TESTNET,
} from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { referenceIn } from '../../support/payment-reference.js';
import { resetTestSandbox } from '../../support/sandbox.js';
import { openSandboxCheckout, type SandboxCheckout } from '../../support/sandbox-checkout.js';
import {
  type Agent,
  type AgentAnswer,
  axiosAgent,
  fetchAgent,
  type Wanted,
} from '../../support/stock-agents.js';

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
/** Longer than the pause between two checks of a chain. */
const BETWEEN_CHECKS_MS = 30_000;
/** The time for a payment that is confirmed by a check of the chain. */
const TIMEOUT_MS = 15_000;

describe('payments in the sandbox', () => {
  const checkout = forAllTests(openSandboxCheckout);
  // A payment that takes longer than 300 ms is answered 202.
  const shortWait = forAllTests(() =>
    openSandboxCheckout({ SETTLE_WAIT_MS: '300', FACILITATOR_SETTLE_TIMEOUT_MS: '5000' }),
  );
  let agent: Agent;
  const buyer = privateKeyToAccount(EVM_BUYER_KEY);

  before(async () => {
    agent = await fetchAgent();
  });
  afterEach(async () => {
    resetClock();
    await resetTestSandbox();
  });

  const linkOf = (on: SandboxCheckout, id: string): string => `http://127.0.0.1:${on.app.port}/c/${id}`;

  async function payNew(on: SandboxCheckout, wanted: Wanted, by = agent): Promise<[string, AgentAnswer]> {
    const { id } = await on.buildSession();
    return [id, await by.pay(linkOf(on, id), wanted)];
  }

  async function assertPaid(on: SandboxCheckout, id: string): Promise<void> {
    await eventually(async () => assert.deepEqual(await on.state(id), PAID), TIMEOUT_MS);
    const { status, body } = await on.visit(id);
    assert.deepEqual([status, body.status], [200, 'complete']);
  }

  /** @x402/fetch pays every offer; @x402/axios shows on an offer of each family that it pays as well. */
  const PAYING: [name: string, open: () => Promise<Agent>, offers: typeof OFFERS][] = [
    ['@x402/fetch', fetchAgent, OFFERS],
    ['@x402/axios', axiosAgent, OFFERS.filter(([network]) => network !== X_LAYER_TESTNET)],
  ];
  for (const [name, open, offers] of PAYING) {
    for (const [network, where, symbols] of offers) {
      for (const symbol of symbols) {
        it(`by ${name} in ${symbol} on ${where}`, async () => {
          const [id, answer] = await payNew(checkout, { network, symbol }, await open());
          assert.equal(answer.status, 200, JSON.stringify(answer.body));
          assert.equal(answer.transaction, answer.body.session?.payment.transaction);
          await assertPaid(checkout, id);
          if (!network.startsWith('solana:')) return;
          const memo = referenceIn(await checkout.payment(id));
          assert.equal(checkout.app.references.read(memo)?.payableId, id);
        });
      }
    }
  }

  for (const [family, wanted] of FAMILIES) {
    describe(`on ${family}`, () => {
      it("have a page in the sandbox's explorer", async () => {
        const [id, { transaction }] = await payNew(checkout, wanted);
        const { payer, payTo } = await checkout.payment(id);
        const { environmentSuffix: suffix, name } = findNetwork(wanted.network) ?? {};
        const pages = `${checkout.sandbox.facilitator.url}/sandbox/tx/${suffix}`;
        const page = await fetch(`${pages}/${transaction}`);
        const html = await page.text();
        assert.equal(page.status, 200, html);
        for (const text of ['USDC transferred', transaction, payer, payTo, name])
          assert.ok(text && html.includes(text), `${text} is not in ${html}`);
        for (const other of [`0x${'0'.repeat(64)}`, '5'.repeat(88), 'x'])
          assert.equal((await fetch(`${pages}/${other}`)).status, 404);
      });

      it('are answered 202 while blocks are slow, and then 200', async () => {
        await shortWait.sandbox.turn({ blocks: 'slow' });
        const [id, answer] = await payNew(shortWait, wanted);
        assert.deepEqual([answer.status, answer.body.status], [202, 'processing']);
        await assertPaid(shortWait, id);
      });

      it('are found on the chain when the facilitator reported them as pending', async () => {
        await shortWait.sandbox.turn({ settle: 'pending' });
        const [id, answer] = await payNew(shortWait, wanted);
        assert.equal(answer.status, 202);
        await assertPaid(shortWait, id);
      });

      it('are found on the chain when the facilitator never answered', async () => {
        await shortWait.sandbox.turn({ settle: 'drop_connection' });
        const [id] = await payNew(shortWait, wanted);
        await assertPaid(shortWait, id);
      });

      it('are found on the chain when the facilitator crashed after its broadcast', async () => {
        await shortWait.sandbox.turn({ settle: 'die', downMs: 600_000 });
        const [id, answer] = await payNew(shortWait, wanted);
        assert.equal(answer.status, 202);
        // On a slow machine the 202 comes before the broadcast and the crash.
        await eventually(() =>
          assert.rejects(
            fetch(`${shortWait.sandbox.facilitator.url}/supported`),
            'the facilitator still answers',
          ),
        );
        await assertPaid(shortWait, id);
        const payment = await shortWait.payment(id);
        assert.equal(payment.settleCalls, 1);
      });

      it('are refused with 402 when the balance is too low, without a claim', async () => {
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
        assert.deepEqual(await checkout.state(id), UNTOUCHED);
      });
    });
  }

  it('are completed without another transfer when the signature has paid the merchant already', async () => {
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
    const { success, transaction: settledIn } = JSON.parse(await settled.text());
    assert.equal(success, true);
    const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': signed.header });
    assert.equal(answerOf(res), '200 complete');
    const { transaction } = await checkout.payment(id);
    assert.equal(transaction, settledIn);
    assert.deepEqual((await checkout.state(id)).events, ['checkout.session.completed']);
  });

  it('are refused for an authorization that has ended or is about to end', async () => {
    const { id } = await checkout.buildSession();
    const seconds = BigInt(Math.floor(nowMs() / 1000));
    for (const validBefore of [seconds - 1n, seconds + 3n]) {
      const res = await checkout.pay(id, { account: buyer, validBefore });
      assert.equal(answerOf(res), '402 invalid_exact_evm_payload_authorization_valid_before');
    }
    assert.deepEqual(await checkout.state(id), UNTOUCHED);
  });

  it('fail when an EVM transaction is lost and its authorization has ended, and the session is open again', async () => {
    await shortWait.sandbox.turn({ settle: 'lose_transaction', confirmWithinMs: 500 });
    const { id } = await shortWait.buildSession();
    // The facilitator accepts only authorizations that are valid for 6 s more, and a busy machine may call it seconds later.
    const validBefore = BigInt(Math.floor(nowMs() / 1000) + 25);
    assert.equal((await shortWait.pay(id, { account: buyer, validBefore })).status, 202);
    await shortWait.afterSettling(id);
    const { client } = shortWait.sandbox.chains.baseSepolia;
    // An idle chain has a block every 30 s.
    await eventually(async () => assert.ok((await client.getBlock()).timestamp > validBefore), 100_000);
    advanceClock(BETWEEN_CHECKS_MS);
    await shortWait.becomes(id, FAILED);
    assert.equal((await shortWait.visit(id)).status, 402);
  });

  it('fail when a Solana transaction is lost and its blockhash has expired, and the session is open again', async () => {
    await shortWait.sandbox.turn({ settle: 'lose_transaction', confirmWithinMs: 500 });
    const [id, answer] = await payNew(shortWait, ON_SOLANA);
    assert.equal(answer.status, 202);
    await shortWait.afterSettling(id);
    // The time counts by the chain's own clock, from the first check on.
    await shortWait.afterNextCheck(id);
    advanceClock(240_000);
    await shortWait.becomes(id, FAILED);
  });
});
