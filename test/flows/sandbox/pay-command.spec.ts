import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { generatePrivateKey } from 'viem/accounts';
import { main } from '../../../lab/sandbox/pay/main.js';
import { toBase58 } from '../../../lab/world/chains/base58.js';
import { SOLANA_DEVNET, X_LAYER_TESTNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { resetTestSandbox } from '../../support/sandbox.js';
import { openSandboxCheckout } from '../../support/sandbox-checkout.js';

interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

describe('npm run pay', () => {
  const checkout = forAllTests(openSandboxCheckout);
  const shortWait = forAllTests(() => openSandboxCheckout({ SETTLE_WAIT_MS: '200' }));
  afterEach(() => resetTestSandbox());

  async function pay(...argv: string[]): Promise<Output> {
    let [stdout, stderr] = ['', ''];
    const output = {
      stdout: { write: (text: string) => (stdout += text) },
      stderr: { write: (text: string) => (stderr += text) },
    };
    const rpc = checkout.sandbox.rpcUrls.SOLANA_DEVNET ?? '';
    const code = await main([...argv, '--rpc', rpc], '/nowhere', output);
    return { code, stdout, stderr };
  }

  async function newLink(on = checkout, overrides = {}): Promise<{ id: string; link: string }> {
    const { id } = await on.buildSession(overrides);
    return { id, link: `http://127.0.0.1:${on.app.port}/c/${id}` };
  }

  async function assertRefused(output: Promise<Output>, reason: RegExp): Promise<void> {
    const { code, stderr } = await output;
    assert.equal(code, 1);
    assert.match(stderr, reason);
  }

  it("pays the first offer, prints that it raises the client's limit, and prints the receipt", async () => {
    const { id, link } = await newLink();
    const { code, stdout, stderr } = await pay(link);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /refuses to pay more than \$1: its limit is raised to \S+ USDC for this payment/);
    const { transaction } = await checkout.payment(id);
    assert.match(stdout, new RegExp(`Paid \\S+ USDC \\(HTTP 200\\)[\\s\\S]*transaction  ${transaction}`));
  });

  const choices: [string[], string, string][] = [
    [['--token', 'USDT'], X_LAYER_TESTNET, 'USDT'],
    [['--network', SOLANA_DEVNET], SOLANA_DEVNET, 'USDC'],
    [['--network', 'solana-devnet', '--token', 'usdg'], SOLANA_DEVNET, 'USDG'],
  ];
  for (const [options, network, symbol] of choices) {
    it(`pays ${symbol} on ${network} with ${options.join(' ')}`, async () => {
      const { id, link } = await newLink();
      const { code, stdout, stderr } = await pay(link, ...options);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`Paid \\S+ ${symbol} `));
      assert.equal((await checkout.payment(id)).network, network);
    });
  }

  it('polls after a 202 until it is 200', async () => {
    await shortWait.sandbox.turn({ blocks: 'slow' });
    const { id, link } = await newLink(shortWait);
    const { code, stdout } = await pay(link);
    assert.equal(code, 0);
    assert.match(stdout, /HTTP 202[\s\S]*Paid [\s\S]*HTTP 200/);
    assert.equal((await shortWait.payments(id)).length, 1);
  });

  it("pays with the user's own wallet", async () => {
    const wallet = Keypair.generate();
    await checkout.sandbox.chains.fund(wallet.publicKey.toBase58());
    const { id, link } = await newLink();
    const { code } = await pay(link, '--key', toBase58(wallet.secretKey));
    assert.equal(code, 0);
    assert.equal((await checkout.payment(id)).payer, wallet.publicKey.toBase58());
  });

  it("prints that the wallet's balance is too low", async () => {
    const { link } = await newLink();
    await assertRefused(
      pay(link, '--key', generatePrivateKey()),
      /^Not paid: 0x\w+ does not hold \S+ USDC on Base Sepolia\.$/m,
    );
  });

  it('prints that the link is paid already', async () => {
    const { link } = await newLink();
    await pay(link);
    await assertRefused(pay(link), /^Already paid: /);
  });

  it('prints that the link has expired', async () => {
    const { link } = await newLink(checkout, { expiresAt: new Date(0) });
    await assertRefused(pay(link), /has expired/);
  });

  it('prints that its argument is not a payment link', async () => {
    const { port } = checkout.app;
    await assertRefused(pay('coffee'), /^"coffee" is not a link: /);
    await assertRefused(pay(`http://127.0.0.1:${port}/c/cs_test_none`), /^There is no payment link /);
    await assertRefused(pay(`http://127.0.0.1:${port}/healthz`), /^Not a payment link: /);
  });

  it('prints that the address cannot be reached', async () => {
    await assertRefused(pay('http://127.0.0.1:9/c/x'), /^Cannot connect to http:\/\/127\.0\.0\.1:9 /);
  });

  it('prints what the link offers when the option matches none of it', async () => {
    const { link } = await newLink();
    await assertRefused(
      pay(link, '--token', 'EURC'),
      /does not offer that to this wallet\. It offers: USDC on eip155:84532, /,
    );
  });

  it('never prints a key that it cannot read', async () => {
    const { link } = await newLink();
    const output = await pay(link, '--key', '0x1234secret');
    assert.equal(output.code, 1);
    assert.doesNotMatch(output.stdout + output.stderr, /1234secret/);
  });
});
