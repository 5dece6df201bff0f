import type { Observation, PaymentStatus } from '../../../shared/payments/states.js';
import { OUTCOME_UNKNOWN } from '../../../shared/payments/states.js';
import { meaningOf } from '../../../shared/x402/facilitator/settle-error-codes.js';
import { CERTAINTIES, ROWS } from './rows.js';

/** The columns of a payment that its history explains. */
export interface ExplainedPayment {
  id: string;
  status: PaymentStatus;
  failureCode: string | null;
  transaction: string | null;
  history: readonly Observation[];
}

/** The text of a history entry, by the kind of the chain's finding. */
const FINDINGS: Readonly<Record<string, RegExp>> = {
  paid: /^paid in /,
  pending: /^pending in /,
  spent_otherwise: /^used up by /,
  unused: /^unused/,
  used: /^used, by what is not known yet/,
  searching: /^not found so far/,
  unreadable: /^not readable/,
};

/** The text of a history entry, by the kind of the facilitator's answer. */
const ANSWERS: Readonly<Record<string, RegExp>> = {
  settled: /^(unclear: )?settled in /,
  rejected: /^[a-z0-9_]+$|^unclear: .+ after an unclear attempt$/,
  not_processed: /^not processed: |^unclear: .+ after an unclear attempt$/,
  postponed: /^not sent yet: /,
  unknown: /^unclear: /,
};

/** Before it was decided, a payment was in processing. */
type State = PaymentStatus;

/**
 * Replays a payment's history against the rows of the policy: each entry must fit its row, the rows must come in an order
 * that the policy allows, and end where the payment is. Entries of earlier versions name no row, and are believed.
 */
export function judgeHistory(payment: ExplainedPayment): string[] {
  const violations: string[] = [];
  let state: State = 'processing';
  let isUnclear = false;
  let decided: Observation | undefined;
  for (const [index, entry] of payment.history.entries()) {
    const wrong = judgeEntry(entry, state, isUnclear);
    if (wrong !== undefined) violations.push(`entry ${index + 1}: ${wrong}`);
    const next = stateAfter(entry, state);
    if (next !== state) decided = entry;
    state = next;
    isUnclear ||= leavesUnclear(entry);
  }
  violations.push(...judgeEnd(payment, state, decided));
  return violations.map((violation) => `${payment.id}: ${violation}`);
}

function judgeEntry(entry: Observation, state: State, isUnclear: boolean): string | undefined {
  const { row, source, said, certain } = entry;
  if (state === 'succeeded') return `“${said}” comes after the success`;
  if (row === undefined) return undefined;
  if (!ROWS.has(row)) return `the policy has no row ${row}`;
  // Entries of earlier versions name no certainty.
  if (certain !== undefined && certain !== CERTAINTIES.get(row))
    return `${row} decided, and is not certain of ${certain}`;
  const { table, kind } = partsOf(row);
  if ((table === 'late') !== (state === 'failed')) return `${row} decided while the payment was ${state}`;
  const words = table === 'answer' ? ANSWERS[kind] : FINDINGS[kind];
  if (table === 'before-call') return source === 'chain' ? `${row} decided by the chain` : undefined;
  if ((table === 'answer') === (source === 'chain')) return `${row} decided by what the ${source} said`;
  if (words !== undefined && !words.test(said)) return `${row} decided by “${said}”`;
  const isRefused = kind === 'rejected' && table === 'answer' && actionOf(row).startsWith('fail');
  if (isRefused && isUnclear) return `the refusal “${said}” was believed after an unclear outcome`;
  if (isRefused && meaningOf(said) !== 'refusal')
    return `the refusal “${said}” was believed, and does not prove that nothing was sent`;
  return undefined;
}

function stateAfter(entry: Observation, state: State): State {
  const { row, source, said } = entry;
  if (row !== undefined) {
    const action = actionOf(row);
    if (action.startsWith('succeed')) return 'succeeded';
    return action.startsWith('fail') ? 'failed' : state;
  }
  if (source === 'operator') return said.startsWith('paid in ') ? 'succeeded' : 'failed';
  return said === 'the session was paid late' ? 'failed' : state;
}

/** A refusal counts only while no call before it had an unclear outcome. */
function leavesUnclear({ row, said }: Observation): boolean {
  return (
    row !== undefined && (said.startsWith('unclear: ') || actionOf(row).includes('the outcome is unclear'))
  );
}

function judgeEnd(payment: ExplainedPayment, state: State, decided: Observation | undefined): string[] {
  const { status, failureCode, transaction, history } = payment;
  const isComplete =
    history.length > 0 &&
    history.every(({ row, source }) => row !== undefined || source === 'operator' || source === 'service');
  if (!isComplete) return [];
  if (status !== state) return [`it is ${status}, and its history ends ${state}`];
  if (status === 'succeeded' && transaction !== null && !decided?.said.includes(transaction))
    return [`it succeeded by ${transaction}, and its history says “${decided?.said}”`];
  if (status !== 'failed' || decided?.row === undefined) return [];
  const isSaidUnknown = actionOf(decided.row).includes(OUTCOME_UNKNOWN);
  return isSaidUnknown === (failureCode === OUTCOME_UNKNOWN)
    ? []
    : [`it failed with ${failureCode}, decided by ${decided.row}`];
}

function partsOf(row: string): { table: string; kind: string } {
  if (row.startsWith('before-call-')) return { table: 'before-call', kind: '' };
  const [, table = '', kind = ''] = /^([a-z]+)-(.+)-\d+$/.exec(row) ?? [];
  return { table, kind };
}

/** The text of the row's action. */
function actionOf(row: string): string {
  return ROWS.get(row)?.split(' → ').at(-1) ?? '';
}
