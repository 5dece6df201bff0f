import { type PageAssets, pageAssets } from '../../api/checkout-page/page-assets.js';
import { bundlePage } from '../../local/build/bundle-page.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';

/** Takes a fiftieth of the best quality's time, in each of mocha's processes. */
const QUICK_QUALITY = 5;

let bundled: Promise<PageAssets> | undefined;

/** The payment page's script and style, bundled from source once in a run. */
export function testPageAssets(): Promise<PageAssets> {
  bundled ??= bundlePage(projectRoot(), QUICK_QUALITY).then(pageAssets);
  return bundled;
}
