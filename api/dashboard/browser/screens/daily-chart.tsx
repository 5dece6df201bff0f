import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { TOKEN_SYMBOLS } from '../../../../shared/chains/networks/networks.js';
import type { DailyReport } from '../api/objects.js';
import { day, dollars, plural, shortDollars } from '../parts/format.js';

const HEIGHT_PX = 260;
/** The share of its day that a bar covers. */
const BAR_WIDTH = 0.7;
const LABELS_PX = 70;
const DARK = '(prefers-color-scheme: dark)';

interface Stack {
  token: string;
  /** Names the colour, which is the same whatever other tokens there are. */
  color: string;
  /** Dollars of this token and of all before it, by day. */
  tops: number[];
}

/** Bars per day, the tokens on top of each other. Screen readers get one sentence here, and the table. */
export function DailyChart({ reports }: { reports: readonly DailyReport[] }) {
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const isDark = useIsDark();
  // The same days are read again and again; the chart is drawn again only when they differ.
  const drawn = JSON.stringify(reports);
  const stacks = useMemo(() => stacksOf(reports), [drawn]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    return draw(element, reports, stacks, setPointed);
  }, [drawn, isDark]);
  const shown = pointed === undefined ? undefined : reports[pointed];
  return (
    <figure class="chart">
      <div ref={place} role="img" aria-label={inWords(reports)} />
      <figcaption>
        <ul class="legend">
          {stacks.map(({ token, color }) => (
            <li key={token}>
              <span class={`swatch ${color}`} aria-hidden="true" /> {token}
            </li>
          ))}
        </ul>
        <p class="muted">
          {shown === undefined
            ? 'Point at a day to read it.'
            : `${day(shown.date)}: ${dollars(shown.amount)} in ${plural(shown.payments, 'payment')}`}
        </p>
      </figcaption>
    </figure>
  );
}

function inWords(reports: readonly DailyReport[]): string {
  const best = reports.reduce((most, one) => (one.amount > most.amount ? one : most));
  return `Bars of the amount paid on each of ${reports.length} days. The most, ${dollars(best.amount)}, was paid on ${day(best.date)}. The table has all numbers.`;
}

function useIsDark(): boolean {
  const [isDark, setIsDark] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const media = matchMedia(DARK);
    const follow = (): void => setIsDark(media.matches);
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, []);
  return isDark;
}

function stacksOf(reports: readonly DailyReport[]): Stack[] {
  const paid = (report: DailyReport, token: string): number =>
    report.by.reduce((sum, share) => (share.token === token ? sum + share.amount : sum), 0) / 100;
  const tokens = TOKEN_SYMBOLS.filter((token) => reports.some((report) => paid(report, token) > 0));
  const tops = reports.map(() => 0);
  return tokens.map((token) => {
    for (const [index, report] of reports.entries()) tops[index] = (tops[index] ?? 0) + paid(report, token);
    return { token, color: `token-${TOKEN_SYMBOLS.indexOf(token)}`, tops: [...tops] };
  });
}

function draw(
  element: HTMLElement,
  reports: readonly DailyReport[],
  stacks: readonly Stack[],
  onPoint: (index: number | undefined) => void,
): () => void {
  const color = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim();
  const axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  // The highest stack is drawn first, and the lower ones over it.
  const series = stacks
    .map((stack) => ({
      label: stack.token,
      fill: color(`--${stack.color}`),
      paths: bars(),
      points: { show: false },
    }))
    .reverse();
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { drag: { setScale: false }, points: { show: false } },
      scales: { x: { time: false, range: [-0.5, reports.length - 0.5] }, y: { range: fromZero } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          values: (_plot, splits) => splits.map((at) => labelAt(reports, at)),
          space: LABELS_PX,
        },
        {
          ...axis,
          size: LABELS_PX,
          values: (_plot, splits) => splits.map((value) => shortDollars(value * 100)),
        },
      ],
      series: [{}, ...series],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
    },
    [reports.map((_, index) => index), ...stacks.map(({ tops }) => tops).reverse()],
    element,
  );
  const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
  observer.observe(element);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}

function bars(): uPlot.Series.PathBuilder {
  if (uPlot.paths.bars === undefined) throw new Error('uPlot was built without bars');
  return uPlot.paths.bars({ size: [BAR_WIDTH, 60] });
}

function fromZero(_plot: uPlot, _low: number, high: number): [number, number] {
  return [0, Math.max(high, 1) * 1.05];
}

/** The axis may ask between two days. */
function labelAt(reports: readonly DailyReport[], at: number): string {
  const report = Number.isInteger(at) ? reports[at] : undefined;
  return report === undefined ? '' : day(report.date);
}
