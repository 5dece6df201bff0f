/** A named predicate over one case. The rows of the policy are printed with its text. */
export interface Condition<Case> {
  readonly text: string;
  readonly holds: (one: Case) => boolean;
}

/** A named decision over one case. The rows of the policy are printed with its text. */
export interface Action<Case, Result> {
  readonly text: string;
  readonly decide: (one: Case) => Result;
}

/** A row applies when all of its conditions hold. */
interface ConditionalRow<Case, Result> {
  readonly when: readonly Condition<Case>[];
  readonly do: Action<Case, Result>;
  readonly because: string;
}

interface LastRow<Case, Result> {
  readonly when?: undefined;
  readonly do: Action<Case, Result>;
  readonly because: string;
}

/** The first row that applies decides. The last row has no condition, so that every case is decided. */
export type Rows<Case, Result> = readonly [...ConditionalRow<Case, Result>[], LastRow<Case, Result>];

/** A result with the name of the row that decided it. */
export type ByRow<Result> = Result & { readonly row: string };

export function decideByRows<Case, Result extends object>(
  name: string,
  rows: Rows<Case, Result>,
  one: Case,
): ByRow<Result> {
  for (const [index, { when = [], do: action }] of rows.entries())
    if (when.every(({ holds }) => holds(one))) return { ...action.decide(one), row: rowName(name, index) };
  throw new Error(`no row of ${name} applies`);
}

export function rowName(name: string, index: number): string {
  return `${name}-${index + 1}`;
}
