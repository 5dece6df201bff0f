import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The problems that axe finds. It runs through the debugger, which is not subject to the policy of the page. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  // With `preload` axe loads the style sheets again, for an experimental rule that RULES leave out, and audio and video, which no
  // page has.
  const options = JSON.stringify({ runOnly: RULES, preload: false, resultTypes: ['violations'] });
  const found: unknown = await page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`,
  );
  return found as string[];
}

export async function scrollsSideways(page: Page): Promise<boolean> {
  return await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}
