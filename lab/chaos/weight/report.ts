import type { Act, Felt } from './trade.js';
import type { Reading } from './weighed-process.js';

/** What was felt while one act, or all, went on. */
export interface Measured {
  name: string;
  /** For how long one of it alone holds the event loop; undefined where that says nothing. */
  heldAlone: number | undefined;
  /** How often each status was answered to the heavy one. */
  answers: ReadonlyMap<string, number>;
  /** How often the chain's endpoint was asked. */
  chainCalls: number;
  readings: { name: string; ended: string | undefined; reading: Reading | undefined }[];
  felt: Felt;
  /** What the neighbour was refused. */
  refused: readonly string[];
}

const MOST_MIB = 400;
const MOST_HELD_MS = 50;
const MOST_TIMES = 2;
/** Below this nobody feels a difference, and much of it is the work of those who are heavy, on the same machine. */
const UNFELT_MS = 250;
const WIDTH = 34;
const ACTS: readonly Act[] = ['create', 'retrieve', 'link', 'webhook'];

export interface Judgement {
  /** Whatever the machine. */
  broken: string[];
  /** On a machine of two cores that has nothing else to do. */
  slow: string[];
}

export function judge(measured: readonly Measured[], awaited: number): Judgement {
  const [quiet] = measured;
  const broken = measured.flatMap(whatBroke);
  if (awaited > 0) broken.push(`${awaited} events of the neighbour were not received`);
  return { broken, slow: measured.flatMap((one) => whatWasSlow(one, quiet)) };
}

function whatBroke({ name, readings, refused }: Measured): string[] {
  const broken: string[] = [];
  for (const { name: process, ended, reading } of readings) {
    if (ended !== undefined) broken.push(`${name}: ${process} ended, ${ended}`);
    const heldMiB = Math.round(reading?.residentMiB ?? 0);
    if (heldMiB > MOST_MIB) broken.push(`${name}: ${process} held ${heldMiB} MiB`);
  }
  if (refused.length > 0)
    broken.push(`${name}: the neighbour was refused ${refused.length} times, first ${refused[0]}`);
  return broken;
}

function whatWasSlow({ name, heldAlone = 0, felt }: Measured, quiet: Measured | undefined): string[] {
  const slow: string[] = [];
  if (heldAlone > MOST_HELD_MS) slow.push(`${name}: one alone holds the event loop ${whole(heldAlone)} ms`);
  for (const act of ACTS) {
    const ms = p95(felt[act]);
    if (ms > Math.max(MOST_TIMES * p95(quiet?.felt[act] ?? []), UNFELT_MS))
      slow.push(`${name}: the neighbour's ${act} took ${ms} ms (p95)`);
  }
  return slow;
}

export function table(measured: readonly Measured[]): string {
  const head = [
    'one held ms',
    'web held ms',
    'worker held ms',
    'web MiB',
    'worker MiB',
    ...ACTS.map((act) => `${act} p95`),
    'RPC calls',
    'answers',
  ];
  const rows = measured.map(({ name, heldAlone, readings, felt, chainCalls, answers }) => [
    name,
    whole(heldAlone),
    ...readings.map(({ reading }) => whole(reading?.heldMs)),
    ...readings.map(({ reading }) => whole(reading?.residentMiB)),
    ...ACTS.map((act) => whole(p95(felt[act]))),
    String(chainCalls),
    [...answers].map(([status, times]) => `${status} × ${times}`).join(', '),
  ]);
  const line = ([name = '', ...cells]: readonly string[]): string =>
    name.padEnd(WIDTH) + cells.map((cell, n) => cell.padStart((head[n] ?? '').length + 2)).join('');
  return `\n${[line(['', ...head]), ...rows.map(line)].join('\n')}\n\n`;
}

function whole(value: number | undefined): string {
  return value === undefined ? '–' : String(Math.round(value));
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0);
}
