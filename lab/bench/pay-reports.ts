import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from '../../shared/db/knex.js';
import { runLoad } from './load/wrk.js';
import { openPayShop } from './pay.js';
import type { Row } from './report/benchmark.js';
import { median, round } from './report/statistics.js';
import { postmaster } from './system/postmaster.js';
import { reportMsPerPayment } from './system/report-cost.js';
import type { System } from './system/system.js';

const ROUNDS = 9;
const SECONDS = 3;
const CONNECTIONS = 50;
/** Longer than the entries of reports wait for a worker. */
const FOLDED_AFTER_MS = 8000;
const TRIGGERS = ['report_made', 'report_changed', 'report_removed'];
/** The most that a payment may lose by the daily totals. */
const GOAL = 0.98;

interface Paid {
  perSecond: number;
  /** Processor time of web, worker and Postgres, their folding of entries included. */
  processorMs: number;
}

/** Payments with the daily totals and without: their triggers are on and off in turn, round by round. */
export async function payReports(system: System): Promise<Row[]> {
  const { processes, ours } = await openPayShop(system);
  const parts = [...processes, await postmaster(system.db)];
  const processorMs = async (): Promise<number> =>
    (await Promise.all(parts.map(({ cpuMs }) => cpuMs()))).reduce((sum, ms) => sum + ms, 0);
  const payOnce = async (isOn: boolean): Promise<Paid> => {
    await switchTriggers(system.db, isOn);
    const load = await ours(SECONDS, CONNECTIONS);
    const before = await processorMs();
    const { perSecond, sent } = await runLoad(load);
    await sleep(FOLDED_AFTER_MS);
    return { perSecond, processorMs: ((await processorMs()) - before) / sent };
  };
  await payOnce(true);
  const rounds: { on: Paid; off: Paid }[] = [];
  for (let n = 0; n < ROUNDS; n += 1) {
    // The later of two rounds runs in a larger table: each is the later one as often.
    const first = await payOnce(n % 2 === 0);
    const second = await payOnce(n % 2 !== 0);
    rounds.push(n % 2 === 0 ? { on: first, off: second } : { on: second, off: first });
  }
  return [
    rowOf(
      'payments a second',
      rounds,
      ({ perSecond }) => perSecond,
      (on, off) => on / off,
    ),
    rowOf(
      'processor ms a payment',
      rounds,
      ({ processorMs: ms }) => ms,
      (on, off) => off / on,
    ),
    shareRow(await reportMsPerPayment(system.db), rounds),
  ];
}

async function switchTriggers(db: Knex, isOn: boolean): Promise<void> {
  for (const trigger of TRIGGERS)
    await db.raw(`ALTER TABLE payments ${isOn ? 'ENABLE' : 'DISABLE'} TRIGGER ${trigger}`);
}

/** `ratioOf`: below 1 when the totals cost something. */
function rowOf(
  figure: string,
  rounds: readonly { on: Paid; off: Paid }[],
  figureOf: (paid: Paid) => number,
  ratioOf: (on: number, off: number) => number,
): Row {
  const ratios = rounds.map(({ on, off }) => ratioOf(figureOf(on), figureOf(off))).sort((a, b) => a - b);
  const ratio = median(ratios);
  return {
    figure: `pay-reports, ${figure}`,
    'with totals': round(median(rounds.map(({ on }) => figureOf(on)))),
    without: round(median(rounds.map(({ off }) => figureOf(off)))),
    ratio: Math.round(ratio * 1000) / 1000,
    'of the rounds': `${round(ratios[0] ?? 0)} to ${round(ratios.at(-1) ?? 0)}`,
    goal: `≥ ${GOAL}`,
    met: ratio >= GOAL ? 'yes' : 'no',
  };
}

/** The totals' own time beside the whole of a payment: it resolves less than the rounds differ by chance. */
function shareRow(ms: number, rounds: readonly { off: Paid }[]): Row {
  const whole = median(rounds.map(({ off }) => off.processorMs));
  const ratio = whole / (whole + ms);
  return {
    figure: 'pay-reports, ms of the totals in Postgres beside processor ms of a payment',
    'with totals': Math.round(ms * 1000) / 1000,
    without: round(whole),
    ratio: Math.round(ratio * 1000) / 1000,
    goal: `≥ ${GOAL}`,
    met: ratio >= GOAL ? 'yes' : 'no',
  };
}
