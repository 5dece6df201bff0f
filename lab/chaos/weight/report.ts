import type { Reading } from './measured-process.js';
import type { Latencies, Operation } from './trade.js';

/** Measurements while one operation, or all of them, ran. */
export interface Measured {
  name: string;
  seconds: number;
  /** How long a turn of the event loop takes with a single operation; undefined where that is not meaningful. */
  turnAloneMs: number | undefined;
  /** The number of answers to the heavy account, by status. */
  answers: ReadonlyMap<string, number>;
  /** The number of calls of the chain's endpoint. */
  chainCalls: number;
  readings: { name: string; ended: string | undefined; reading: Reading | undefined }[];
  latencies: Latencies;
  /** Requests of the neighbour that were refused. */
  refused: readonly string[];
}

const MAX_MIB = 400;
const MAX_TURN_MS = 50;
const MAX_FACTOR = 2;
/** A difference below this is not noticeable, and much of it is the load generator's own work on the same machine. */
const UNNOTICEABLE_MS = 250;
const WIDTH = 34;
const OPERATIONS: readonly Operation[] = ['create', 'retrieve', 'link', 'webhook'];

export interface Judgement {
  /** Violations on any machine. */
  broken: string[];
  /** Violations on an otherwise idle machine with two cores. */
  slow: string[];
}

export function judge(measured: readonly Measured[], awaited: number): Judgement {
  const [quiet] = measured;
  const broken = measured.flatMap(findViolations);
  if (awaited > 0) broken.push(`${awaited} events of the neighbour were not received`);
  return { broken, slow: measured.flatMap((one) => findSlowdowns(one, quiet)) };
}

function findViolations({ name, readings, refused }: Measured): string[] {
  const broken: string[] = [];
  for (const { name: process, ended, reading } of readings) {
    if (ended !== undefined) broken.push(`${name}: ${process} ended, ${ended}`);
    const residentMiB = Math.round(reading?.residentMiB ?? 0);
    if (residentMiB > MAX_MIB) broken.push(`${name}: ${process} used ${residentMiB} MiB`);
  }
  if (refused.length > 0)
    broken.push(`${name}: the neighbour was refused ${refused.length} times, first ${refused[0]}`);
  return broken;
}

function findSlowdowns(
  { name, turnAloneMs = 0, readings, latencies }: Measured,
  quiet: Measured | undefined,
): string[] {
  const slow: string[] = [];
  if (turnAloneMs > MAX_TURN_MS)
    slow.push(`${name}: one alone holds the event loop for ${whole(turnAloneMs)} ms`);
  for (const { name: process, reading } of readings)
    if (reading !== undefined && turnOf(reading) > MAX_TURN_MS)
      slow.push(`${name}: a turn of ${process} took ${whole(turnOf(reading))} ms`);
  for (const operation of OPERATIONS) {
    const ms = p95(latencies[operation]);
    if (ms > Math.max(MAX_FACTOR * p95(quiet?.latencies[operation] ?? []), UNNOTICEABLE_MS))
      slow.push(`${name}: the neighbour's ${operation} took ${ms} ms (p95)`);
  }
  return slow;
}

export function table(measured: readonly Measured[]): string {
  const head = [
    'alone turn ms',
    'web turn ms',
    'worker turn ms',
    'web block ms',
    'worker block ms',
    'web wait %',
    'web MiB',
    'worker MiB',
    ...OPERATIONS.map((operation) => `${operation} p95`),
    'RPC calls',
    'answers',
  ];
  const rows = measured.map(({ name, seconds, turnAloneMs, readings, latencies, chainCalls, answers }) => [
    name,
    whole(turnAloneMs),
    ...readings.map(({ reading }) => whole(reading?.turnMs ?? undefined)),
    ...readings.map(({ reading }) => whole(reading?.blockedMs)),
    whole(waitShare(readings[0]?.reading, seconds)),
    ...readings.map(({ reading }) => whole(reading?.residentMiB)),
    ...OPERATIONS.map((operation) => whole(p95(latencies[operation]))),
    String(chainCalls),
    [...answers].map(([status, times]) => `${status} × ${times}`).join(', '),
  ]);
  const line = ([name = '', ...cells]: readonly string[]): string =>
    name.padEnd(WIDTH) + cells.map((cell, n) => cell.padStart((head[n] ?? '').length + 2)).join('');
  return `\n${[line(['', ...head]), ...rows.map(line)].join('\n')}\n\n`;
}

/**
 * The longest turn's processor time. Where the system does not tell it, the delay counts, with all other work of that time in
 * it.
 */
export function turnOf({ turnMs, blockedMs }: Reading): number {
  return turnMs ?? blockedMs;
}

/**
 * Percent of the time that the process waited for a processor: much of it means that the machine is too busy to judge the
 * neighbour's times.
 */
function waitShare(reading: Reading | undefined, seconds: number): number | undefined {
  const waitedMs = reading?.waitedMs ?? undefined;
  return waitedMs === undefined ? undefined : waitedMs / (10 * seconds);
}

function whole(value: number | undefined): string {
  return value === undefined ? '–' : String(Math.round(value));
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0);
}
