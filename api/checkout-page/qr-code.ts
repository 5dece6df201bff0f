import { LRUCache } from 'lru-cache';
import { encode } from 'uqr';
import { escapeHtml } from './markup.js';

/** Modules of white around the code, which readers need. */
const QUIET_ZONE = 4;
const drawn = new LRUCache<string, string>({ max: 200 });

/** One path, dark on white in every theme: that is what cameras read. */
export function qrCode(text: string, label: string): string {
  const { size, path } = JSON.parse(drawn.get(text) ?? draw(text)) as { size: number; path: string };
  return `<svg class="qr" role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`;
}

function draw(text: string): string {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const runs = data.flatMap((row, y) =>
    runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`),
  );
  const drawing = JSON.stringify({ size, path: runs.join('') });
  drawn.set(text, drawing);
  return drawing;
}

/** Dark modules that stand side by side, as one rectangle. */
function runsOf(row: readonly boolean[]): [start: number, length: number][] {
  const runs: [number, number][] = [];
  let start = -1;
  for (const [x, dark] of [...row, false].entries()) {
    if (dark && start < 0) start = x;
    if (!dark && start >= 0) {
      runs.push([start, x - start]);
      start = -1;
    }
  }
  return runs;
}
