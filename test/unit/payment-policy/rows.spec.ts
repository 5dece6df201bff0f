import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { uncertain } from '../../../lab/explore/policy/model/certainty.js';
import { rowsAsMarkdown } from '../../../lab/world/history/rows.js';
import type { ChainFinding, Finding } from '../../../shared/chains/check/finding.js';
import { PAYABLE_STATUSES } from '../../../shared/payables/states.js';
import { ANSWER, afterCall } from '../../../shared/settlement/policy/after-call.js';
import { afterCheck, CHECK, LATE_CHECK } from '../../../shared/settlement/policy/after-check.js';
import { BEFORE_CALL } from '../../../shared/settlement/policy/before-call.js';
import type { CheckCase } from '../../../shared/settlement/policy/check-case.js';
import type { Decision } from '../../../shared/settlement/policy/decision.js';
import {
  type ByRow,
  type Condition,
  decideByRows,
  type Rows,
  rowName,
} from '../../../shared/settlement/policy/decision-table.js';
import { FAILURE, SUCCESS } from '../../../shared/settlement/policy/session-after.js';
import type { SettleVerdict } from '../../../shared/x402/facilitator/settle-verdict.js';
import { addToTitle } from '../../support/add-to-title.js';
import { answers, checks, failures, successes, TAKEN } from './every-case.js';

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

/** A decision of the policy, or a step towards one. */
type Step = Decision | { kind: 'call' | 'ask_verify' };

function actionOf<Case, Result>(
  rows: readonly Row<Case, Result>[],
  one: Case,
): Row<Case, Result>['do'] | undefined {
  return rows.find(({ when = [] }) => when.every(({ holds }) => holds(one)))?.do;
}

/** A decision may rest on the condition that is left out, and throw without it. */
function decide<Case, Result>(action: Row<Case, Result>['do'] | undefined, one: Case): unknown {
  try {
    return action?.decide(one);
  } catch (error) {
    return error;
  }
}

/** The rows without one row, or without one of its conditions, by the name of the missing part. */
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
  cases: () => Iterable<Case>,
  stepAfter?: (one: Case) => ByRow<Step>,
): void {
  describe(`the rows ${name}`, () => {
    const certainly = stepAfter === undefined ? '' : ' that is certain of what it rests on';

    it(`decide each case by one row${certainly}, and each row decides some`, function () {
      const deciding = new Set<string>();
      let count = 0;
      for (const one of cases()) {
        const step = stepAfter?.(one);
        deciding.add((step ?? decideByRows(name, rows, one)).row);
        if (step !== undefined) assert.equal(isDecision(step) ? uncertain(step) : undefined, undefined);
        count += 1;
      }
      const names = rows.map((_row, index) => rowName(name, index));
      assert.deepEqual([...deciding].sort(), names.sort());
      addToTitle(this, `${count} cases`);
    });

    it('would decide otherwise without any of them, and without any of its conditions', () => {
      const idle = shortened<Case, Result>(rows, name);
      for (const one of cases()) {
        if (idle.size === 0) break;
        const action = actionOf<Case, Result>(rows, one);
        for (const [left, others] of idle) {
          const other = actionOf(others, one);
          if (other !== action && !isDeepStrictEqual(decide(other, one), decide(action, one)))
            idle.delete(left);
        }
      }
      assert.deepEqual([...idle.keys()], []);
    });
  });
}

function isDecision(step: Step): step is Decision {
  return step.kind !== 'call' && step.kind !== 'ask_verify';
}

function holdChecks<Kind extends ChainFinding['kind']>(kind: Kind): void {
  const decideCheck = (one: CheckCase<Finding<Kind>>): ByRow<Step> =>
    afterCheck(one.payment, one, one.settings, one.times);
  hold(`look-${kind}`, CHECK[kind], () => checks(kind, 'processing'), decideCheck);
  hold(`late-${kind}`, LATE_CHECK[kind], () => checks(kind, 'failed'), decideCheck);
}

function holdAnswers<Kind extends SettleVerdict['kind']>(kind: Kind): void {
  hold(
    `answer-${kind}`,
    ANSWER[kind],
    () => answers(kind),
    (one) => afterCall(one.payment, one, one.settings, one.times),
  );
}

describe('the payment policy', () => {
  hold(
    'before-call',
    BEFORE_CALL,
    () => TAKEN,
    (one) => decideByRows('before-call', BEFORE_CALL, one),
  );
  for (const kind of ANSWERS) holdAnswers(kind);
  for (const kind of FINDINGS) holdChecks(kind);
  for (const status of PAYABLE_STATUSES) {
    hold(`success-${status}`, SUCCESS[status], () => successes(status));
    hold(`failure-${status}`, FAILURE[status], () => failures(status));
  }

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
