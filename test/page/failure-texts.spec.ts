import assert from 'node:assert/strict';
import { type Cause, NEXT_STEPS } from '../../api/checkout-page/words/causes.js';
import { EN } from '../../api/checkout-page/words/en.js';
import { fill } from '../../api/checkout-page/words/words.js';
import { refuses } from '../../lab/world/facilitator/dial.js';
import type { Visitor } from '../../lab/world/page/visit.js';
import {
  type EvmWallet,
  fundedWallet,
  neverEnds,
  solanaWallet,
  WalletError,
} from '../../lab/world/page/wallets.js';
import { openCheckoutOnChain } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { FACILITATOR_CODES } from '../support/page/facilitator-codes.js';
import { openBrowser, withBrowser } from '../support/page/shop.js';
import { WALLET_ERRORS } from '../support/page/wallet-errors.js';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const FOX = /Fox Wallet/;
const VALUES = { wallet: 'Fox Wallet', network: 'Base Sepolia' };
const METHODS = {
  connecting: ['eth_requestAccounts'],
  switching: ['wallet_switchEthereumChain', 'wallet_addEthereumChain'],
  signing: ['eth_signTypedData_v4'],
} as const;
/**
 * Failure codes of a facilitator. failedSignature has the Solana code only, since the service verifies EVM
 * signatures itself. failedSpent has none of the service's own codes: they do not say what an earlier payment took.
 */
const CODES = Object.entries({
  ...FACILITATOR_CODES,
  failedSignature: ['invalid_exact_svm_payload_signature_invalid'],
  failedSpent: ['authorization_already_used'],
  failedOther: ['something_new'],
}) as [Cause, readonly string[]][];

/** Causes each cause of failure in one page, expects its text and next step, and pays after all of them. */
describe('the page shows', () => {
  const shop = forAllTests(async () => withBrowser(await openCheckoutOnChain(), await openBrowser()));
  let wallet: EvmWallet;
  let visitor: Visitor;
  let id: string;
  before(async () => {
    wallet = fundedWallet();
    ({ id } = await shop.buildSession());
    visitor = await shop.visitPage(id, { wallets: [wallet] });
  });
  after(async () => {
    await visitor.leave();
  });

  beforeEach(() => {
    wallet.chainId = 84532;
    wallet.next.clear();
    // A refusal of a payload that may be used is certain once a block of now shows it unused.
    shop.chain.mine();
  });

  async function assertNotice(words: RegExp): Promise<void> {
    await visitor.alerts(words);
    // The buyer can always try again.
    await visitor.page.getByRole('button', { name: FOX }).waitFor();
  }

  async function assertSays(cause: Cause, title: string): Promise<void> {
    await visitor.press(FOX);
    const said = visitor.page.getByRole('alert');
    await said.filter({ hasText: fill(title, VALUES) }).waitFor();
    await said.filter({ hasText: `${EN.nothingPaid} ${EN[NEXT_STEPS[cause]]}` }).waitFor();
    // The buyer can try again, and the document title shows it.
    await visitor.page.getByRole('button', { name: FOX }).waitFor();
    assert.equal(await visitor.page.title(), 'Pay Cafe Pocket');
  }

  // One error for each cause and step: test/unit/checkout-page/causes.spec.ts has the cause of every error.
  const shown = new Set<string>();
  for (const { wallet: name, thrown, step, cause = 'walletFailed' } of WALLET_ERRORS) {
    const { code, message } = Object(thrown) as { code?: number; message?: string };
    // Deeper causes are lost between the processes of test and browser.
    if (message === undefined || thrown instanceof Error || 'data' in Object(thrown)) continue;
    if (shown.has(`${cause} ${step}`)) continue;
    shown.add(`${cause} ${step}`);
    it(`${cause} when ${name} answers ${code ?? message} while ${step}`, async () => {
      if (step === 'switching') wallet.chainId = 1;
      for (const method of METHODS[step]) {
        wallet.next.set(method, () => Promise.reject(new WalletError(code as number, message)));
      }
      await assertSays(cause, EN[cause]);
    });
  }

  for (const [cause, [code = '']] of CODES) {
    it(`${cause} when the facilitator answers ${code}`, async () => {
      shop.facilitator.verify.next(refuses(code));
      await assertSays(cause, EN[cause]);
    });
  }

  for (const [method, answer, words] of [
    ['eth_requestAccounts', async () => [], /Fox Wallet shared no address/],
    ['wallet_switchEthereumChain', async () => null, /Fox Wallet did not change to Base Sepolia/],
  ] as const) {
    it(`${words.source} when it answers ${method} with nothing`, async () => {
      if (method === 'wallet_switchEthereumChain') wallet.chainId = 1;
      wallet.next.set(method, answer);
      await visitor.press(FOX);
      await assertNotice(words);
    });
  }

  it('that the buyer cancelled when the wallet never answers', async () => {
    wallet.next.set('eth_signTypedData_v4', neverEnds);
    await visitor.press(FOX);
    await visitor.sees('Confirm in Fox Wallet');
    await visitor.press('Cancel');
    await assertNotice(/You cancelled on this page.*still asks, decline there/);
  });

  for (const [chainId, units, holds] of [
    [84532, 1_234_560n, /Not enough USDC on Base Sepolia: this wallet holds 1\.23456.USDC/],
    [1, 0n, /Not enough USDC on Base Sepolia: this wallet holds 0\.00/],
  ] as const) {
    it(`that ${units} units are too little on chain ${chainId}, before anything is signed`, async () => {
      wallet.balances.set(USDC, units);
      wallet.chainId = chainId;
      wallet.requests.length = 0;
      await visitor.choose('Base Sepolia · USDC');
      await visitor.press(FOX);
      await assertNotice(holds);
      assert.ok(!wallet.requests.includes('eth_signTypedData_v4'));
    });
  }

  it('the receipt when the buyer pays after all these failures, of which none took money', async () => {
    assert.deepEqual(await shop.state(id), { session: 'open', payments: [], events: [] });
    wallet.balances.set(USDC, 25_000_000n);
    await visitor.press(FOX);
    await visitor.sees('Payment complete');
    assert.equal((await shop.payments(id)).filter(({ status }) => status === 'succeeded').length, 1);
  });

  it('that the payment service does not answer when Solana cannot be read', async () => {
    const ghost = await shop.visitPage(await shop.buildSession(), { wallets: [solanaWallet()] });
    await ghost.press(/Ghost Wallet/);
    await ghost.alerts(/payment service does not answer/);
    await ghost.leave();
  });
});
