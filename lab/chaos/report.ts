import type { FacilitatorEntry } from './actors/entries.js';
import type { Verdict } from './check/await-peace.js';
import type { ChaosOptions } from './options.js';

/** What was done, what came of it, and what was checked, for a person to read. */
export function report(
  { seed }: ChaosOptions,
  { books, violations, peaceAfterMs }: Verdict,
  facilitator: readonly FacilitatorEntry[],
  chaosMs: number,
): string {
  const { sessions, refunds, payments, buyers, answers, ledger, received, faults } = books;
  const moved = ledger.filter(({ succeeded }) => succeeded);
  const complete = [...sessions.values()].filter(({ status }) => status === 'complete');
  const failing = facilitator.filter(({ mood }) => mood !== 'honest');
  const sections: [string, Map<string, number>][] = [
    ['Done to the service', count(faults.map(({ fault }) => fault))],
    ['Failures of the facilitator', count(failing.map(({ endpoint, mood }) => `/${endpoint}: ${mood}`))],
    ['Answers', count(answers.map(({ request, status, code }) => `${request}: ${status || (code ?? 0)}`))],
    ['Moved', count(moved.map(({ transaction }) => (transaction.startsWith('0x') ? 'EVM' : 'Solana')))],
    ['Sessions', count([...sessions.values()].map(({ status }) => status))],
    ['Refunds', count([...refunds.values()].map(({ status }) => status))],
    ['Buyers', count(buyers.flatMap((entry) => (entry.kind === 'left' ? [entry.outcome] : [])))],
    ['Events received', count(received.map(({ type, reaction }) => `${type}, answered ${reaction}`))],
  ];
  const lines = sections.flatMap(([title, counts]) => [
    '',
    `${title}:`,
    ...[...counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([what, times]) => `${String(times).padStart(7)}  ${what}`),
  ]);
  return [
    ...lines,
    '',
    `${facilitator.length} calls of the facilitator, of which ${failing.length} failed in ${sections[1]?.[1].size} ways.`,
    `${buyers.filter(({ kind }) => kind === 'signed').length} authorizations signed; ${moved.length} moved money, ` +
      `${complete.length} sessions complete, ${payments.length - complete.length} payments surplus.`,
    `Things went wrong for ${seconds(chaosMs)}; all was well ${seconds(peaceAfterMs)} after they were healed.`,
    '',
    ...(violations.length === 0
      ? [`Nothing was paid unrecorded, twice, or told wrong (seed ${seed}). Checked:`, ...CHECKED]
      : [
          `${violations.length} VIOLATIONS (seed ${seed}):`,
          ...violations.map((violation) => `  ${violation}`),
        ]),
    '',
  ].join('\n');
}

const CHECKED = [
  'each transfer on the ledger is one payment of its session, which it completed, or surplus of a complete one',
  'no refund is left pending, or paid by nothing; nobody got back more than was paid, and each was told of once',
  'no authorization moved money twice; no payment succeeded without money; no session is complete unpaid',
  'no session and no payment is left processing; each session was opened once, whatever broke meanwhile',
  'one event per type for each finished session, verified and received by the endpoint that was enabled throughout',
  'nothing came to endpoints that were disabled or deleted; no process ended that nobody had killed',
  'each process that was told to stop left with exit status 0 within 25 s, and answered whoever waited for it',
  'no /settle was cut before its time by a process that nobody had killed or stopped',
  'once all had healed, no connection to Postgres was left idle in a transaction',
  'no link answered 500, or 402 after money had moved for it; nobody was told of a failure that paid later',
].map((line) => `  - ${line}`);

function count(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
