import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { generatePrivateKey } from 'viem/accounts';
import { main } from '../../lab/sandbox/pay/main.js';
import { toBase58 } from '../../lab/sandbox/solana/base58.js';
import { SOLANA_DEVNET, X_LAYER_TESTNET } from '../support/checkout.js';
import { resetTestSandbox } from '../support/sandbox.js';
import { openSandboxCheckout, type SandboxCheckout } from '../support/sandbox-checkout.js';

interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

describe('npm run pay', function () {
  this.timeout(60_000);
  let checkout: SandboxCheckout;
  let hurried: SandboxCheckout;
  before(async () => {
    checkout = await openSandboxCheckout();
    hurried = await openSandboxCheckout({ SETTLE_WAIT_MS: '200' });
  });
  afterEach(() => resetTestSandbox());
  after(async () => {
    await hurried.close();
    await checkout.close();
  });

  async function pay(...argv: string[]): Promise<Said> {
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

  async function assertRefused(said: Promise<Said>, reason: RegExp): Promise<void> {
    const { code, stderr } = await said;
    assert.equal(code, 1);
    assert.match(stderr, reason);
  }

  it('pays what comes first, says that it raises the limit, and prints the receipt', async () => {
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
    it(`pays ${symbol} on ${network} when told ${options.join(' ')}`, async () => {
      const { id, link } = await newLink();
      const { code, stdout, stderr } = await pay(link, ...options);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`Paid \\S+ ${symbol} `));
      assert.equal((await checkout.payment(id)).network, network);
    });
  }

  it('asks on after a 202 until it is 200', async () => {
    await hurried.sandbox.turn({ blocks: 'slow' });
    const { id, link } = await newLink(hurried);
    const { code, stdout } = await pay(link);
    assert.equal(code, 0);
    assert.match(stdout, /HTTP 202[\s\S]*Paid [\s\S]*HTTP 200/);
    assert.equal((await hurried.payments(id)).length, 1);
  });

  it('pays with a wallet of its user’s', async () => {
    const wallet = Keypair.generate();
    await checkout.sandbox.chains.fund(wallet.publicKey.toBase58());
    const { id, link } = await newLink();
    const { code } = await pay(link, '--key', toBase58(wallet.secretKey));
    assert.equal(code, 0);
    assert.equal((await checkout.payment(id)).payer, wallet.publicKey.toBase58());
  });

  it('says that a wallet does not hold enough', async () => {
    const { link } = await newLink();
    await assertRefused(
      pay(link, '--key', generatePrivateKey()),
      /^Not paid: 0x\w+ does not hold \S+ USDC on Base Sepolia\.$/m,
    );
  });

  it('says that a link is paid already', async () => {
    const { link } = await newLink();
    await pay(link);
    await assertRefused(pay(link), /^Already paid: /);
  });

  it('says that a link has expired', async () => {
    const { link } = await newLink(checkout, { expiresAt: new Date(0) });
    await assertRefused(pay(link), /has expired/);
  });

  it('says that what it was given is no payment link', async () => {
    const { port } = checkout.app;
    await assertRefused(pay('coffee'), /^"coffee" is not a link: /);
    await assertRefused(pay(`http://127.0.0.1:${port}/c/cs_test_none`), /^There is no payment link /);
    await assertRefused(pay(`http://127.0.0.1:${port}/healthz`), /^Not a payment link: /);
  });

  it('says that nothing can be reached', async () => {
    await assertRefused(pay('http://127.0.0.1:9/c/x'), /^Cannot connect to http:\/\/127\.0\.0\.1:9 /);
  });

  it('says what the link offers instead of what was asked for', async () => {
    const { link } = await newLink();
    await assertRefused(
      pay(link, '--token', 'EURC'),
      /does not offer that to this wallet\. It offers: USDC on eip155:84532, /,
    );
  });

  it('never repeats a key that it cannot read', async () => {
    const { link } = await newLink();
    const said = await pay(link, '--key', '0x1234secret');
    assert.equal(said.code, 1);
    assert.doesNotMatch(said.stdout + said.stderr, /1234secret/);
  });
});
