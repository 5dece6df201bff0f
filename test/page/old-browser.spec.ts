import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { fundedWallet, solanaWallet } from '../../lab/world/page/wallets.js';
import { forAllTests } from '../support/hooks.js';
import { openShop } from '../support/page/shop.js';

/** The members that Chrome 100 or Safari 15.4 does not have, by the expression of their owner. */
const NEWER: Readonly<Record<string, readonly string[]>> = {
  AbortSignal: ['timeout', 'any'],
  'AbortSignal.prototype': ['throwIfAborted'],
  Array: ['fromAsync'],
  'Array.prototype': ['toSorted', 'toReversed', 'toSpliced', 'with', 'group', 'groupToMap'],
  'Object.getPrototypeOf(Uint8Array.prototype)': ['toSorted', 'toReversed', 'with'],
  Uint8Array: ['fromBase64', 'fromHex'],
  'Uint8Array.prototype': ['toBase64', 'toHex', 'setFromBase64', 'setFromHex'],
  'Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))': [
    ...['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find'],
  ],
  Map: ['groupBy'],
  'Map.prototype': ['getOrInsert', 'getOrInsertComputed'],
  Math: ['sumPrecise', 'f16round'],
  Object: ['groupBy'],
  Promise: ['withResolvers', 'try'],
  RegExp: ['escape'],
  'Set.prototype': [
    ...['union', 'intersection', 'difference', 'symmetricDifference'],
    ...['isSubsetOf', 'isSupersetOf', 'isDisjointFrom'],
  ],
  'String.prototype': ['isWellFormed', 'toWellFormed'],
  Error: ['isError', 'captureStackTrace'],
  Intl: ['DurationFormat'],
  URL: ['canParse', 'parse'],
  Response: ['json'],
  'Response.prototype': ['bytes'],
  'Blob.prototype': ['bytes'],
  Document: ['parseHTMLUnsafe', 'parseHTML'],
  'Document.prototype': ['startViewTransition', 'caretPositionFromPoint'],
  'Element.prototype': ['checkVisibility', 'setHTMLUnsafe', 'setHTML', 'getHTML', 'moveBefore', 'ariaNotify'],
  'HTMLElement.prototype': ['showPopover', 'hidePopover', 'togglePopover', 'inert'],
  'ReadableStream.prototype': ['values', '@@asyncIterator'],
  window: [
    'scheduler',
    'navigation',
    'requestIdleCallback',
    'CloseWatcher',
    'ToggleEvent',
    'Iterator',
    'Float16Array',
  ],
  'Navigator.prototype': ['userAgentData', 'connection', 'scheduling', 'userActivation', 'setAppBadge'],
};

/** Runs before the page's own script. */
async function makeOld(page: Page): Promise<void> {
  const deletions = Object.entries(NEWER).flatMap(([owner, names]) =>
    names.map((name) => `try { delete (${owner})[${JSON.stringify(name)}]; } catch {}`),
  );
  await page.addInitScript(deletions.join('\n'));
}

describe('a browser of 2022, without any newer API,', () => {
  const shop = forAllTests(openShop);

  it('chooses token and network, signs with a Solana wallet, pays with an EVM wallet, and shows the receipt', async () => {
    const { id } = await shop.buildSession();
    const wallets = [fundedWallet(), solanaWallet()];
    const visitor = await shop.visitPage(id, { wallets, prepare: makeOld });
    const missing = 'typeof AbortSignal.timeout + typeof [].toSorted';
    assert.equal(await visitor.page.evaluate(missing), 'undefinedundefined');
    await visitor.choose('Solana Devnet · USDG');
    await visitor.press(/Ghost Wallet/);
    await visitor.alerts(/./);
    await visitor.choose('Base Sepolia · USDC');
    await visitor.press(/Fox Wallet/);
    await visitor.sees('Payment complete');
    assert.equal((await shop.session(id)).status, 'complete');
    await visitor.leave();
  });

  it('follows a payment of somebody else', async () => {
    const { id } = await shop.buildSession();
    const visitor = await shop.visitPage(id, { prepare: makeOld });
    await shop.pay(id);
    await visitor.sees('Payment complete');
    await visitor.leave();
  });
});
