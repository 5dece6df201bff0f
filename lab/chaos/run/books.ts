import { runNode } from '../../world/processes/processes.js';
import type { Evidence } from '../check/evidence.js';
import type { System } from '../system/system.js';

/** A line of `reconcile --json`. */
interface Line {
  status: 'matched' | 'unrecorded' | 'missing' | 'different';
  transaction: string | null;
  repaired?: true;
  because?: string;
  differs?: string[];
  checkout_session?: string;
  refund?: string;
  payment?: string;
}

type Records = Pick<Evidence, 'ledger' | 'buyers' | 'forgotten'>;

interface Known extends Records {
  /** Transactions of transfers to the merchant that do not involve the service. */
  unrelated: ReadonlySet<string>;
}

/** The books held against the chains, by the operator's command, from the beginning of the run on. */
export class Books {
  /** Transactions that the command has listed as money which no payment has. */
  readonly listed = new Set<string>();
  readonly #system: System;
  readonly #since: Date;

  constructor(system: System, since: Date) {
    this.#system = system;
    this.#since = since;
  }

  async repair(): Promise<void> {
    const { lines } = await this.#reconcile('--repair');
    for (const { status, transaction, repaired } of lines)
      if (status === 'unrecorded' && !repaired && transaction !== null) this.listed.add(transaction);
  }

  /** Every line is `matched`, except payments lost by a failover, and unrelated transfers. */
  async check(records: Records): Promise<string[]> {
    const { lines, code, said } = await this.#reconcile();
    // Unrelated transfers continue: their journal is read after the chain.
    const unrelated = new Set(this.#system.journals.unrelated.read().map(({ transaction }) => transaction));
    const violations = lines.flatMap((line) => judge(line, { ...records, unrelated }));
    const isAllMatched = lines.every(({ status }) => status === 'matched');
    if ((code === 0) !== isAllMatched) violations.push(`reconcile exits with ${code}: ${said}`);
    if (/not read:/.test(said)) violations.push(`reconcile could not read all: ${said}`);
    const told = new Set(lines.flatMap(({ transaction }) => transaction ?? []));
    return [...violations, ...untold(records, told)];
  }

  async #reconcile(...args: string[]): Promise<{ lines: Line[]; code: number | null; said: string }> {
    const command = [
      'local/commands/merchants.mjs',
      'reconcile',
      '--json',
      '--since',
      this.#since.toISOString(),
    ];
    const { code, stdout, stderr } = await runNode([...command, ...args], {
      environment: this.#system.operator(),
    });
    const lines = stdout.split('\n').flatMap((line): Line[] => (line === '' ? [] : [JSON.parse(line)]));
    return { lines, code, said: stderr.trim().split('\n').at(-1) ?? '' };
  }
}

/**
 * The complaint about a line, if there is one. A payment that a failover has lost is to be recorded again, unless its
 * transaction carries no reference, as the buyers' on EVM networks, or its session is lost, too.
 */
export function judge(line: Line, { ledger, buyers, forgotten, unrelated }: Known): string[] {
  const { status, transaction, because } = line;
  if (status === 'matched') return [];
  if (status === 'unrecorded' && transaction !== null) {
    if (unrelated.has(transaction)) return [];
    const moved = ledger.find((one) => one.transaction === transaction);
    const isLost = buyers.some(
      (one) =>
        one.kind === 'signed' &&
        one.nonce === moved?.nonce &&
        forgotten.has(one.sessionId) &&
        (one.family === 'evm' || because === 'session_gone'),
    );
    if (isLost) return [];
  }
  return [`reconcile says: ${JSON.stringify(line)}`];
}

/** Money of sessions must be told by some line. A lost refund's goes to a wallet that Postgres has lost, too. */
export function untold(
  { ledger, buyers }: Pick<Records, 'ledger' | 'buyers'>,
  told: ReadonlySet<string>,
): string[] {
  const sold = new Set(
    buyers.flatMap((one) => (one.kind === 'signed' && one.sessionId.startsWith('cs_') ? [one.nonce] : [])),
  );
  return ledger.flatMap(({ succeeded, nonce, transaction }) =>
    succeeded && sold.has(nonce) && !told.has(transaction)
      ? [`reconcile does not tell of ${transaction}`]
      : [],
  );
}
