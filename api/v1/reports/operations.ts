import type { Static } from 'typebox';
import { Refusal } from '../../../shared/errors/refusal.js';
import { findTimeZone } from '../../../shared/reports/local-days.js';
import { DAILY_REPORT_COLUMNS, presentDailyReport } from '../../../shared/reports/present.js';
import { type ReportRange, readDailyReports } from '../../../shared/reports/read.js';
import { DAY_MS } from '../../../shared/values/day.js';
import { presentList } from '../../../shared/wire/list.js';
import type { Deps } from '../../deps/deps.js';
import { inputParser } from '../../input/input-parser.js';
import { answerTable } from '../operation/answer-csv.js';
import type { Answer } from '../operation/answer-once.js';
import type { Call } from '../operation/operation.js';
import { ListDailyReports, LONGEST_DAYS } from './schema.js';

const parseList = inputParser(ListDailyReports);

export function reportOperations({ accountReads }: Deps) {
  return {
    async listDailyReports({ principal, input, wantsCsv }: Call): Promise<Answer> {
      const range = rangeOf(parseList(input));
      const reports = await accountReads(principal, (db) => readDailyReports(db, principal, range));
      if (wantsCsv) return answerTable(DAILY_REPORT_COLUMNS, reports);
      const list = presentList('/v1/reports/daily', reports.map(presentDailyReport), false);
      return { text: JSON.stringify(list), isReplay: false };
    },
  };
}

function rangeOf({ from, to, timezone = 'UTC' }: Static<typeof ListDailyReports>): ReportRange {
  const fromMs = dayOf('from', from);
  const toMs = dayOf('to', to);
  if (toMs < fromMs) throw refused('to', 'to must not be before from.');
  if ((toMs - fromMs) / DAY_MS >= LONGEST_DAYS)
    throw refused(
      'to',
      `to is too late: a report has at most ${LONGEST_DAYS} days, those of from and to included.`,
    );
  const zone = findTimeZone(timezone);
  if (zone === undefined)
    throw refused('timezone', 'timezone must be an IANA name, such as Europe/Berlin or UTC.');
  return { fromMs, toMs, zone };
}

/** Date.parse takes February 30 for March 2, so the day is written back and compared. */
function dayOf(param: string, text: string): number {
  const ms = /^(19[7-9]|[2-9]\d\d)\d-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)) return ms;
  throw refused(param, `${param} must be a day from 1970 on, written like 2026-11-30.`);
}

function refused(param: string, message: string): Refusal {
  return new Refusal('parameter_invalid', message, { param });
}
