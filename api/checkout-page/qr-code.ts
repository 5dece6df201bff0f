import { encode } from 'uqr';
import { lruCache } from '../../shared/limits/lru-cache.js';

/** White margin in modules, required by QR readers. */
const QUIET_ZONE = 4;
const drawn = lruCache<string>(200);

/** An SVG image of one path, dark on white in every theme, as cameras need it. */
export function qrImage(text: string): string {
  const { size, path } = JSON.parse(drawn.get(text) ?? draw(text)) as { size: number; path: string };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${path}"/></svg>`;
}

/** Little error correction: a screen is not damaged, and larger modules are read from further away. */
function draw(text: string): string {
  const { size, data } = encode(text, { ecc: 'L', border: QUIET_ZONE });
  const drawing = JSON.stringify({ size, path: data.map(drawRow).join('') });
  drawn.set(text, drawing);
  return drawing;
}

/** Draws each row as one stroked line with gaps, the shortest path data. */
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
