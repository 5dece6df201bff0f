import { LRUCache } from 'lru-cache';
import { encode } from 'uqr';
import { escapeHtml } from './markup.js';

/** Modules of white around the code, which readers need. */
const QUIET_ZONE = 4;
const drawn = new LRUCache<string, string>({ max: 200 });

/** One path, dark on white in every theme: that is what cameras read. */
export function qrCode(text: string, label: string): string {
  const { size, path } = JSON.parse(drawn.get(text) ?? draw(text)) as { size: number; path: string };
  return `<svg class="qr" role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${path}"/></svg>`;
}

function draw(text: string): string {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const drawing = JSON.stringify({ size, path: data.map(drawRow).join('') });
  drawn.set(text, drawing);
  return drawing;
}

/** A line through the middle of the row, with gaps where it is light: the shortest way to say it. */
function drawRow(row: readonly boolean[], y: number): string {
  let line = '';
  let end = 0;
  for (let x = 0; x < row.length; x += 1) {
    if (!row[x]) continue;
    const start = x;
    while (row[x]) x += 1;
    line += line === '' ? `M${start} ${y}.5` : `m${start - end} 0`;
    line += `h${x - start}`;
    end = x;
  }
  return line;
}
