import type { Certainty } from '../../payments/states.js';

/** The sources of facts about a payment. `database`: the payment's row in Postgres. `verify`: the answer to `/verify`. */
export type Witness = 'facilitator' | 'chain' | 'verify' | 'database' | 'clock' | 'operator';

/** A named predicate over one case, and the witness that it believes. The rows of the policy are printed with its text. */
export interface Condition<Case> {
  readonly text: string;
  readonly by: Witness;
  readonly holds: (one: Case) => boolean;
}

/** A named decision over one case. The rows of the policy are printed with its text. */
export interface Action<Case, Result> {
  readonly text: string;
  readonly decide: (one: Case) => Result;
}

interface Row<Case, Result> {
  readonly do: Action<Case, Result>;
  /** Absent when the row proves nothing about the money. */
  readonly certain?: Certainty;
  readonly because: string;
}

/** A row applies when all of its conditions hold. */
interface ConditionalRow<Case, Result> extends Row<Case, Result> {
  readonly when: readonly Condition<Case>[];
}

interface LastRow<Case, Result> extends Row<Case, Result> {
  readonly when?: undefined;
}

/** The first row that applies decides. The last row has no condition, so that every case is decided. */
export type Rows<Case, Result> = readonly [...ConditionalRow<Case, Result>[], LastRow<Case, Result>];

/** A result with the name of the row that decided it, and its certainty. */
export type ByRow<Result> = Result & { readonly row: string; readonly certain?: Certainty };

export function decideByRows<Case, Result extends object>(
  name: string,
  rows: Rows<Case, Result>,
  one: Case,
): ByRow<Result> {
  let index = -1;
  for (const { when, do: action, certain } of rows) {
    index += 1;
    if (when !== undefined && !all(when, one)) continue;
    const row = rowName(name, index);
    const decided = action.decide(one);
    // `...decided` comes last: V8 takes many times as long to add a property to a copy.
    return certain === undefined ? { row, ...decided } : { row, certain, ...decided };
  }
  throw new Error(`no row of ${name} applies`);
}

function all<Case>(conditions: readonly Condition<Case>[], one: Case): boolean {
  for (const { holds } of conditions) if (!holds(one)) return false;
  return true;
}

export function rowName(name: string, index: number): string {
  return `${name}-${index + 1}`;
}
