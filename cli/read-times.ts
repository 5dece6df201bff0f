import { nowMs } from '../shared/process/clock.js';
import { DAY_MS } from '../shared/values/day.js';
import { UsageError } from './parse-command-line.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A past date, which is its first moment in UTC, or a past time. */
export function readPast(option: string, text: string): Date {
  const time = parse(text);
  if (time !== undefined && time.getTime() <= nowMs()) return time;
  throw new UsageError(
    `${option} must be a past date or time such as 2026-11-20 or 2026-11-20T08:30:00Z; it is "${text}".`,
  );
}

/** The days or times from `--from` to `--to`. A date for `--to` is part of the range, a time is not. */
interface TimeRange {
  from: Date | undefined;
  before: Date | undefined;
}

export function readTimeRange(from: string | undefined, to: string | undefined): TimeRange {
  const range = {
    from: from === undefined ? undefined : readAny('--from', from),
    before: to === undefined ? undefined : endOf(to),
  };
  if (range.from === undefined || range.before === undefined || range.from < range.before) return range;
  throw new UsageError('--from must not be later than --to.');
}

/** Whole days in UTC. */
export function readDayRange(from: string | undefined, to: string | undefined): TimeRange {
  requireDate('--from', from);
  requireDate('--to', to);
  return readTimeRange(from, to);
}

function requireDate(option: string, text: string | undefined): void {
  if (text === undefined || (DATE.test(text) && parse(text) !== undefined)) return;
  throw new UsageError(`${option} must be a date such as 2026-11-20; it is "${text}".`);
}

function endOf(text: string): Date {
  const time = readAny('--to', text);
  return DATE.test(text) ? new Date(time.getTime() + DAY_MS) : time;
}

function readAny(option: string, text: string): Date {
  const time = parse(text);
  if (time !== undefined) return time;
  throw new UsageError(
    `${option} must be a date or a time such as 2026-11-20 or 2026-11-20T08:30:00Z; it is "${text}".`,
  );
}

/** Undefined for days that no calendar has: JavaScript would take February 30 for March 2. */
function parse(text: string): Date | undefined {
  if (!DATE.test(text) && !TIME.test(text)) return undefined;
  const time = new Date(text);
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(time.getTime()) || Number.isNaN(day.getTime())) return undefined;
  return day.toISOString().startsWith(text.slice(0, 10)) ? time : undefined;
}
