import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { uncertain } from '../../../lab/explore/policy/model/certainty.js';
import { rowsAsMarkdown } from '../../../lab/world/history/rows.js';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import { SESSION_STATUSES } from '../../../shared/payables/states.js';
import { ANSWER, afterCall } from '../../../shared/settlement/policy/after-call.js';
import { afterLook, LATE_LOOK, LOOK } from '../../../shared/settlement/policy/after-look.js';
import { BEFORE_CALL, beforeCall } from '../../../shared/settlement/policy/before-call.js';
import {
  type Condition,
  decideByRows,
  type Rows,
  rowName,
} from '../../../shared/settlement/policy/decision-table.js';
import { FAILURE, SUCCESS } from '../../../shared/settlement/policy/session-after.js';
import type { SettleVerdict } from '../../../shared/x402/settle-verdict.js';
import { answers, failures, looks, successes, TAKEN } from './every-case.js';

const FINDINGS: readonly ChainFinding['kind'][] = [
  'paid',
  'pending',
  'spent_otherwise',
  'unused',
  'used',
  'searching',
  'unreadable',
];
const ANSWERS: readonly SettleVerdict['kind'][] = [
  'settled',
  'rejected',
  'not_processed',
  'postponed',
  'unknown',
];

interface Row<Case, Result> {
  when?: readonly Condition<Case>[] | undefined;
  do: { decide(one: Case): Result };
}

function decide<Case, Result>(rows: readonly Row<Case, Result>[], one: Case): unknown {
  const row = rows.find(({ when = [] }) => when.every(({ holds }) => holds(one)));
  try {
    return row?.do.decide(one);
  } catch (error) {
    return error;
  }
}

/** The rows without one of them, or without one of its conditions, by what is left out. */
function shortened<Case, Result>(
  rows: readonly Row<Case, Result>[],
  name: string,
): Map<string, readonly Row<Case, Result>[]> {
  const all = new Map<string, readonly Row<Case, Result>[]>();
  for (const [index, row] of rows.entries()) {
    const { when } = row;
    if (when === undefined) continue;
    all.set(rowName(name, index), rows.toSpliced(index, 1));
    for (const [place, { text }] of when.entries()) {
      const others = { ...row, when: when.toSpliced(place, 1) };
      all.set(`${rowName(name, index)}, ${text}`, rows.with(index, others));
    }
  }
  return all;
}

function hold<Case, Result extends object>(
  name: string,
  rows: Rows<Case, Result>,
  cases: readonly Case[],
): void {
  describe(`the rows ${name}`, () => {
    it(`decide each of ${cases.length} cases by one row, and each row decides some`, () => {
      const deciding = new Set(cases.map((one) => decideByRows(name, rows, one).row));
      const names = rows.map((_row, index) => rowName(name, index));
      assert.deepEqual([...deciding].sort(), names.sort());
    });

    it('would decide otherwise without any of them, and without any of its conditions', () => {
      const results = cases.map((one) => decide<Case, Result>(rows, one));
      const idle = [...shortened<Case, Result>(rows, name)].filter(([, others]) =>
        cases.every((one, index) => isDeepStrictEqual(decide(others, one), results[index])),
      );
      assert.deepEqual(
        idle.map(([left]) => left),
        [],
      );
    });
  });
}

function holdLooks<Kind extends ChainFinding['kind']>(kind: Kind): void {
  hold(`look-${kind}`, LOOK[kind], looks(kind, 'processing'));
  hold(`late-${kind}`, LATE_LOOK[kind], looks(kind, 'failed'));
}

function holdAnswers<Kind extends SettleVerdict['kind']>(kind: Kind): void {
  hold(`answer-${kind}`, ANSWER[kind], answers(kind));
}

describe('the payment policy', () => {
  hold('before-call', BEFORE_CALL, TAKEN);
  for (const kind of ANSWERS) holdAnswers(kind);
  for (const kind of FINDINGS) holdLooks(kind);
  for (const status of SESSION_STATUSES) {
    hold(`success-${status}`, SUCCESS[status], successes(status));
    hold(`failure-${status}`, FAILURE[status], failures(status));
  }

  it('is certain of what each success, each failure and each further call rests on', () => {
    const decided = [
      ...TAKEN.map((one) => beforeCall(one.payment, one.commitsMayBeLost, one.times)),
      ...ANSWERS.flatMap((kind) =>
        answers(kind).map((one) => afterCall(one.payment, one, one.rules, one.times)),
      ),
      ...FINDINGS.flatMap((kind) => [...looks(kind, 'processing'), ...looks(kind, 'failed')]).map((one) =>
        afterLook(one.payment, one, one.rules, one.times),
      ),
    ];
    const wrong = decided.flatMap((one) =>
      one === undefined || one.kind === 'ask_verify' ? [] : (uncertain(one) ?? []),
    );
    assert.deepEqual([...new Set(wrong)], []);
  });

  it('is printed in docs/payment-policy.md as it is', () => {
    const page = readFileSync(
      path.join(import.meta.dirname, '..', '..', '..', 'docs', 'payment-policy.md'),
      'utf8',
    );
    const [, printed] = page.split(/^<!-- (?:rows|end of the rows) -->\n/m);
    assert.equal(
      printed?.trim(),
      rowsAsMarkdown().trim(),
      'docs/payment-policy.md shows other rows: put the output of `npm run explore -- --rows` between its markers',
    );
  });
});
