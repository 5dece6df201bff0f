import assert from 'node:assert/strict';
import { type Cause, NEXT_STEPS } from '../../api/checkout-page/words/causes.js';
import { EN } from '../../api/checkout-page/words/en.js';
import { fill } from '../../api/checkout-page/words/words.js';
import { refuses } from '../../lab/world/facilitator/dial.js';
import type { Visitor } from '../../lab/world/page/visit.js';
import { type EvmWallet, evmWallet, WalletError } from '../../lab/world/page/wallets.js';
import { FACILITATOR_CODES } from '../support/page/facilitator-codes.js';
import { openShop, type Shop } from '../support/page/shop.js';
import { WALLET_ERRORS } from '../support/page/wallet-errors.js';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const VALUES = { wallet: 'Fox Wallet', network: 'Base Sepolia' };
const METHODS = {
  connecting: ['eth_requestAccounts'],
  switching: ['wallet_switchEthereumChain', 'wallet_addEthereumChain'],
  signing: ['eth_signTypedData_v4'],
} as const;
/**
 * Failure codes of a facilitator. failedSignature has the Solana code only, since the service verifies EVM
 * signatures itself.
 */
const CODES = Object.entries({
  ...FACILITATOR_CODES,
  failedSignature: ['invalid_exact_svm_payload_signature_invalid'],
}) as [Cause, readonly string[]][];

/** Causes each cause of failure in the page, and expects its text and next step. */
describe('the page shows', function () {
  this.timeout(120_000);
  let shop: Shop;
  let wallet: EvmWallet;
  let visitor: Visitor;
  before(async () => {
    shop = await openShop();
    wallet = evmWallet();
    wallet.balances.set(USDC, 25_000_000n);
    visitor = await shop.visitPage(await shop.buildSession(), { wallets: [wallet] });
  });
  after(async () => {
    await visitor.leave();
    await shop.close();
  });

  async function assertSays(cause: Cause, title: string): Promise<void> {
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).click();
    const said = visitor.page.getByRole('alert');
    await said.filter({ hasText: fill(title, VALUES) }).waitFor();
    await said.filter({ hasText: `${EN.nothingPaid} ${EN[NEXT_STEPS[cause]]}` }).waitFor();
    // The buyer can try again, and the document title shows it.
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).waitFor();
    assert.equal(await visitor.page.title(), 'Pay Cafe Pocket');
  }

  for (const { wallet: name, thrown, step, cause = 'walletFailed' } of WALLET_ERRORS) {
    const { code, message } = Object(thrown) as { code?: number; message?: string };
    // Deeper causes are lost between the processes of test and browser.
    if (message === undefined || thrown instanceof Error || 'data' in Object(thrown)) continue;
    it(`${cause} when ${name} answers ${code ?? message} while ${step}`, async () => {
      wallet.chainId = step === 'switching' ? 1 : 84532;
      for (const method of METHODS[step]) {
        wallet.next.set(method, () => Promise.reject(new WalletError(code as number, message)));
      }
      await assertSays(cause, EN[cause]);
      wallet.next.clear();
    });
  }

  for (const [cause, [code = '']] of CODES) {
    it(`${cause} when the facilitator answers ${code}`, async () => {
      wallet.chainId = 84532;
      shop.facilitator.verify.next(refuses(code));
      await assertSays(cause, EN[cause]);
    });
  }
});
