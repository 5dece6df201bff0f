import type { Verdict } from '../check/await-quiescence.js';
import type { ChaosOptions } from '../command/options.js';
import type { FacilitatorEntry } from '../journals/entries.js';

/** The run's faults, results and checks, as text. */
export function report(
  { seed }: ChaosOptions,
  { evidence, violations, quietAfterMs }: Verdict,
  facilitator: readonly FacilitatorEntry[],
  chaosMs: number,
): string {
  const { sessions, refunds, payments, buyers, answers, ledger, received, faults } = evidence;
  const moved = ledger.filter(({ succeeded }) => succeeded);
  const complete = [...sessions.values()].filter(({ status }) => status === 'complete');
  const failing = facilitator.filter(({ faultMode }) => faultMode !== 'honest');
  const sections: [string, Map<string, number>][] = [
    ['Injected faults', count(faults.map(({ fault }) => fault))],
    [
      'Failures of the facilitator',
      count(failing.map(({ endpoint, faultMode }) => `/${endpoint}: ${faultMode}`)),
    ],
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
    `Faults were injected for ${seconds(chaosMs)}; the service was quiescent ${seconds(quietAfterMs)} after recovery.`,
    '',
    ...(violations.length === 0
      ? [`No violations (seed ${seed}). Checked:`, ...CHECKED]
      : [
          `${violations.length} VIOLATIONS (seed ${seed}):`,
          ...violations.map((violation) => `  ${violation}`),
        ]),
    '',
  ].join('\n');
}

const CHECKED = [
  'each transfer on the ledger is one payment that completed its session, or the surplus payment of a complete one',
  'no refund is left pending or succeeded without a transfer; refunds never exceed the payment; each has its events once',
  'no authorization moved money twice; no payment succeeded without money; no session is complete unpaid',
  'no session and no payment is left processing; each session was created once, despite retries',
  'one event per type for each finished session, verified and received by the endpoint that was always enabled',
  'no event reached an endpoint that was disabled or deleted; no process ended by itself',
  'each process exited with status 0 within 25 s of SIGTERM, and answered its requests in flight',
  'no /settle call was given up before its timeout by a process that was not killed or paused',
  'after recovery, no connection to Postgres was left idle in a transaction',
  'no link answered 500, or 402 after its money had moved; no payment that was reported as failed moved money later',
].map((line) => `  - ${line}`);

function count(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
