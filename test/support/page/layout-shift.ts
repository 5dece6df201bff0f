import type { Page } from 'playwright-core';

/** Installs the measurement; call before opening the page. Counts shifts before the first input of the buyer. */
export async function watchLayout(page: Page): Promise<void> {
  await page.addInitScript(`
    window.layoutShift = 0;
    window.layoutShifts = [];
    for (const act of ['pointerdown', 'keydown']) addEventListener(act, () => { window.hasActed = true; }, true);
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries()) {
        if (shift.hadRecentInput || window.hasActed) continue;
        window.layoutShift += shift.value;
        for (const { node } of shift.sources) window.layoutShifts.push(node?.id || node?.className || node?.nodeName);
      }
    }).observe({ type: 'layout-shift', buffered: true });`);
}

/** The layout shift of everything painted so far. */
export async function layoutShift(page: Page): Promise<number> {
  const shift: unknown = await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(window.layoutShift), 50)))',
  );
  return Number(shift);
}
