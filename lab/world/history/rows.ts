import type { Certainty } from '../../../shared/payments/states.js';
import { ANSWER } from '../../../shared/settlement/policy/after-call.js';
import { CHECK, LATE_CHECK } from '../../../shared/settlement/policy/after-check.js';
import { BEFORE_CALL } from '../../../shared/settlement/policy/before-call.js';
import { rowName, type Witness } from '../../../shared/settlement/policy/decision-table.js';
import { FAILURE, SUCCESS } from '../../../shared/settlement/policy/session-after.js';

/** The witnesses that a row of the policy believes, and the certainty of its decision. */
interface Evidence {
  readonly by: readonly Witness[];
  readonly certain?: Certainty;
}

/** The texts of a row. */
interface Row {
  readonly when?: readonly { readonly text: string; readonly by: Witness }[] | undefined;
  readonly do: { readonly text: string };
  readonly certain?: Certainty;
  readonly because: string;
}

interface Table {
  readonly title: string;
  /** The names of its rows begin with this. */
  readonly name: string;
  /** The heading of the column that its rows are grouped by. */
  readonly by: string;
  /** The source of the statements in the table; a session's rows rest on the outcome of a payment. */
  readonly witness?: Witness;
  readonly groups: Readonly<Record<string, readonly Row[]>>;
}

const TABLES: readonly Table[] = [
  {
    title: 'After an answer to `/settle`',
    name: 'answer',
    by: 'answer',
    witness: 'facilitator',
    groups: ANSWER,
  },
  {
    title: 'After a chain check, while the payment is in processing',
    name: 'look',
    by: 'finding',
    witness: 'chain',
    groups: CHECK,
  },
  {
    title: 'After a check for late money, when the payment has failed',
    name: 'late',
    by: 'finding',
    witness: 'chain',
    groups: LATE_CHECK,
  },
  { title: 'When a payment succeeds: its session', name: 'success', by: 'session', groups: SUCCESS },
  { title: 'When a payment fails: its session', name: 'failure', by: 'session', groups: FAILURE },
];

/** Every row of the policy, as the tables of docs/payment-policy.md. */
export function rowsAsMarkdown(): string {
  const beforeCall = [
    '### Before a call of `/settle`',
    '',
    header(['row', 'when', ...EVIDENCE, 'do', 'because']),
    ...lines({ name: 'before-call', rows: BEFORE_CALL, witness: 'database', group: [] }),
  ];
  const tables = TABLES.map(({ title, name, by, witness, groups }) => [
    `### ${title}`,
    '',
    header(['row', by, 'when', ...(witness === undefined ? [] : EVIDENCE), 'do', 'because']),
    ...Object.entries(groups).flatMap(([group, rows]) =>
      lines({ name: `${name}-${group}`, rows, witness, group: [`\`${group}\``] }),
    ),
  ]);
  return [beforeCall, ...tables].map((table) => `${table.join('\n')}\n`).join('\n');
}

const GROUPS: readonly (readonly [string, readonly Row[]])[] = [
  ['before-call', BEFORE_CALL],
  ...TABLES.flatMap(({ name, groups }) =>
    Object.entries(groups).map(([group, rows]) => [`${name}-${group}`, rows] as const),
  ),
];

/** Each row's name, with its conditions and its decision in words. */
export const ROWS: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(([name, rows]) =>
    rows.map((row, index) => [
      rowName(name, index),
      `${conditions(row, rows.length) || 'always'} → ${row.do.text}`,
    ]),
  ),
);

/** The certainty of each row. */
export const CERTAINTIES: ReadonlyMap<string, Certainty | undefined> = new Map(
  GROUPS.flatMap(([name, rows]) => rows.map(({ certain }, index) => [rowName(name, index), certain])),
);

const EVIDENCE = ['by', 'certain of'] as const;

interface Lines {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly witness: Witness | undefined;
  readonly group: readonly string[];
}

function lines({ name, rows, witness, group }: Lines): string[] {
  return rows.map((row, index) => {
    const evidence = witness === undefined ? [] : evidenceCells(rows, index, witness);
    const when = conditions(row, rows.length);
    return line([`\`${rowName(name, index)}\``, ...group, when, ...evidence, row.do.text, row.because]);
  });
}

function evidenceCells(rows: readonly Row[], index: number, witness: Witness): string[] {
  const { by, certain = 'nothing' } = evidenceOf(rows, index, witness);
  return [by.join(', '), `\`${certain}\``];
}

/** A row that decides otherwise believes the witnesses of every row above it. */
function evidenceOf(rows: readonly Row[], index: number, witness: Witness): Evidence {
  const { when, certain } = rows[index] ?? {};
  const heard = when ?? rows.flatMap((above) => above.when ?? []);
  return { by: [...new Set([witness, ...heard.map(({ by }) => by)])], ...(certain && { certain }) };
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
