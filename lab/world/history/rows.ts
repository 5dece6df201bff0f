import { ANSWER } from '../../../shared/settlement/policy/after-call.js';
import { LATE_LOOK, LOOK } from '../../../shared/settlement/policy/after-look.js';
import { BEFORE_CALL } from '../../../shared/settlement/policy/before-call.js';
import { rowName } from '../../../shared/settlement/policy/decision-table.js';
import { FAILURE, SUCCESS } from '../../../shared/settlement/policy/session-after.js';

/** The texts of a row. */
interface Row {
  readonly when?: readonly { readonly text: string }[] | undefined;
  readonly do: { readonly text: string };
  readonly because: string;
}

interface Table {
  readonly title: string;
  /** The names of its rows begin with this. */
  readonly name: string;
  /** The heading of the column that its rows are grouped by. */
  readonly by: string;
  readonly groups: Readonly<Record<string, readonly Row[]>>;
}

const TABLES: readonly Table[] = [
  { title: 'After an answer to `/settle`', name: 'answer', by: 'answer', groups: ANSWER },
  {
    title: 'After a look at the chain, while the payment is in processing',
    name: 'look',
    by: 'finding',
    groups: LOOK,
  },
  {
    title: 'After a look for late money, when the payment has failed',
    name: 'late',
    by: 'finding',
    groups: LATE_LOOK,
  },
  { title: 'When a payment succeeds: its session', name: 'success', by: 'session', groups: SUCCESS },
  { title: 'When a payment fails: its session', name: 'failure', by: 'session', groups: FAILURE },
];

/** Every row of the policy, as the tables of docs/payment-policy.md. */
export function rowsAsMarkdown(): string {
  const beforeCall = ['### Before a call of `/settle`', '', header(['row', 'when', 'do', 'because'])];
  const tables = TABLES.map(({ title, name, by, groups }) => [
    `### ${title}`,
    '',
    header(['row', by, 'when', 'do', 'because']),
    ...Object.entries(groups).flatMap(([group, rows]) => lines(`${name}-${group}`, rows, [`\`${group}\``])),
  ]);
  return [[...beforeCall, ...lines('before-call', BEFORE_CALL, [])], ...tables]
    .map((table) => `${table.join('\n')}\n`)
    .join('\n');
}

/** Each row's name, with its conditions and its decision in words. */
export const ROWS: ReadonlyMap<string, string> = new Map(
  [
    ['before-call', BEFORE_CALL] as const,
    ...TABLES.flatMap(({ name, groups }) =>
      Object.entries(groups).map(([group, rows]) => [`${name}-${group}`, rows] as const),
    ),
  ].flatMap(([name, rows]) =>
    rows.map((row: Row, index) => [
      rowName(name, index),
      `${conditions(row, rows.length) || 'always'} → ${row.do.text}`,
    ]),
  ),
);

function lines(name: string, rows: readonly Row[], group: readonly string[]): string[] {
  return rows.map((row, index) =>
    line([`\`${rowName(name, index)}\``, ...group, conditions(row, rows.length), row.do.text, row.because]),
  );
}

function conditions({ when = [] }: Row, rows: number): string {
  if (when.length > 0) return when.map(({ text }) => text).join('; ');
  return rows > 1 ? 'otherwise' : '';
}

function header(cells: readonly string[]): string {
  return `${line(cells)}\n|${'---|'.repeat(cells.length)}`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
}
