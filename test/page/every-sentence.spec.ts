import assert from 'node:assert/strict';
import { type Cause, NEXT_STEPS } from '../../api/checkout-page/words/causes.js';
import { EN } from '../../api/checkout-page/words/en.js';
import { fill } from '../../api/checkout-page/words/words.js';
import { refuses } from '../../lab/world/facilitator/dial.js';
import { FACILITATOR_WORDS } from '../support/page/facilitator-words.js';
import { openShop, type Shop, type Visitor } from '../support/page/shop.js';
import { WALLET_ERRORS } from '../support/page/wallet-errors.js';
import { type EvmWallet, evmWallet, WalletError } from '../support/page/wallets.js';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const VALUES = { wallet: 'Fox Wallet', network: 'Base Sepolia' };
const METHODS = {
  connecting: ['eth_requestAccounts'],
  switching: ['wallet_switchEthereumChain', 'wallet_addEthereumChain'],
  signing: ['eth_signTypedData_v4'],
} as const;
/** What a facilitator says of this chain's payments; of a signature that is right it is not believed. */
const CODES = Object.entries({
  ...FACILITATOR_WORDS,
  failedSignature: ['invalid_exact_svm_payload_signature_invalid'],
}) as [Cause, readonly string[]][];

/** The table of causes, each brought about in the page: what it says is that sentence, and its next step. */
describe('the page says', function () {
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
    // The way to pay is there again, and the tab says so.
    await visitor.page.getByRole('button', { name: /Fox Wallet/ }).waitFor();
    assert.equal(await visitor.page.title(), 'Pay Cafe Pocket');
  }

  for (const { wallet: name, says, step, cause = 'walletFailed' } of WALLET_ERRORS) {
    const { code, message } = Object(says) as { code?: number; message?: string };
    // What lies deeper does not come out of the test's process.
    if (message === undefined || says instanceof Error || 'data' in Object(says)) continue;
    it(`${cause} when ${name} says ${code ?? message} while ${step}`, async () => {
      wallet.chainId = step === 'switching' ? 1 : 84532;
      for (const method of METHODS[step]) {
        wallet.next.set(method, () => Promise.reject(new WalletError(code as number, message)));
      }
      await assertSays(cause, EN[cause]);
      wallet.next.clear();
    });
  }

  for (const [cause, [code = '']] of CODES) {
    it(`${cause} when the facilitator says ${code}`, async () => {
      wallet.chainId = 84532;
      shop.facilitator.verify.next(refuses(code));
      await assertSays(cause, EN[cause]);
    });
  }
});
