import type { Row } from './benchmark.js';

/** Draws a benchmark's rows as bars: the ratio to the baseline where there is one, else the plain numbers. */
export function drawChart(title: string, rows: readonly Row[]): string {
  const bars = rows.flatMap((row) =>
    typeof row.ratio === 'number' ? [ratioBar(row, row.ratio)] : valueBars(row),
  );
  const longest = Math.max(...bars.map(({ value, limit }) => Math.max(value, limit ?? 0)), Number.MIN_VALUE);
  const height = TOP + bars.length * BAR_STEP + BOTTOM;
  const lines = bars.map((bar, index) => drawBar(bar, TOP + index * BAR_STEP, BARS_WIDTH / longest));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="24" font-size="15" font-weight="600" fill="#1f2328">${escapeXml(title)}</text>
${lines.join('\n')}
</svg>
`;
}

interface Bar {
  label: string;
  value: number;
  text: string;
  /** The goal, or the baseline. */
  limit: number | undefined;
  met: boolean;
}

const WIDTH = 760;
const LABELS_WIDTH = 250;
const TEXT_WIDTH = 210;
const BARS_WIDTH = WIDTH - LABELS_WIDTH - TEXT_WIDTH;
const TOP = 44;
const BOTTOM = 12;
const BAR_STEP = 30;
const BAR_HEIGHT = 18;

function ratioBar(row: Row, ratio: number): Bar {
  const goal = Number(/[\d.]+/.exec(String(row.goal))?.[0]);
  const label =
    row.connections === undefined ? String(row.figure) : `${row.figure}, ${row.connections} at a time`;
  return {
    label,
    value: ratio,
    text: `${ratio} of the baseline (goal ${row.goal})`,
    limit: Number.isFinite(goal) ? goal : undefined,
    met: row.met !== 'no',
  };
}

function valueBars(row: Row): Bar[] {
  const [first] = Object.entries(row).filter(([, value]) => typeof value === 'string');
  return Object.entries(row).flatMap(([name, value]) =>
    typeof value === 'number'
      ? [
          {
            label: `${first?.[1] ?? ''}: ${name}`.slice(-MOST_LABEL),
            value,
            text: value.toLocaleString('en'),
            limit: undefined,
            met: row.met !== 'no',
          },
        ]
      : [],
  );
}

const MOST_LABEL = 38;

function drawBar({ label, value, text, limit, met }: Bar, y: number, scale: number): string {
  const middle = y + BAR_HEIGHT - 5;
  const mark = LABELS_WIDTH + (limit ?? 0) * scale;
  const goal =
    limit === undefined
      ? ''
      : `<line x1="${mark}" x2="${mark}" y1="${y - 4}" y2="${y + BAR_HEIGHT + 4}" stroke="#1f2328" stroke-dasharray="3 2"/>`;
  return `<text x="${LABELS_WIDTH - 10}" y="${middle}" text-anchor="end" fill="#1f2328">${escapeXml(label)}</text>
<rect x="${LABELS_WIDTH}" y="${y}" width="${Math.max(1, value * scale)}" height="${BAR_HEIGHT}" rx="3" fill="${met ? '#2f81f7' : '#d1730c'}"/>${goal}
<text x="${Math.max(LABELS_WIDTH + value * scale, mark) + 8}" y="${middle}" fill="#59636e">${escapeXml(text)}</text>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
