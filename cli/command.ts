import type { Config } from '../shared/config/config.js';
import type { Knex } from '../shared/db/knex.js';

export type Input = Record<string, string | undefined>;

/** The row of `operator_actions` that a changing command writes. */
export interface AuditEntry {
  /** The id of the command's subject or of the created object. */
  about: string | undefined;
  /** The wallet of the shown account: the answer then lists token accounts that it has yet to open. */
  solanaWallet?: string | null;
  /** Writes the row, and resolves to its id. */
  record(db: Knex): Promise<number>;
  /** The sentence for an operator whose command ends from now on without its answer, by a signal. */
  tellIfEnded(sentence: () => string): void;
}

export interface CommandContext {
  config: Config;
  isJson: boolean;
  /** Standard error, for log lines. */
  stderr: { write(text: string): unknown };
  /** Writes one object of a longer report to standard output, before the answer. */
  print(part: object): void;
  /** Writes text to standard output, where that carries data. */
  write(text: string): void;
}

export interface Command {
  usage: string;
  /** The name of the positional argument, if there is one. */
  subject?: string;
  /** Options with a value. */
  options?: readonly string[];
  /** Options without a value. */
  flags?: readonly string[];
  /** The options and flags that must be given. */
  required?: readonly string[];
  /** `at once`: one transaction with the audit row. `piecemeal`: several transactions, after the command writes the audit row. */
  changes?: 'at once' | 'piecemeal';
  /** Whether standard output carries data, so that the answer goes to standard error. */
  writesDataToStdout?(input: Input): boolean;
  run(db: Knex, input: Input, audit: AuditEntry, context: CommandContext): Promise<object>;
}

/** An argument that the parser guarantees. */
export function subjectOf(input: Input, name: string): string {
  const value = input[name];
  if (value === undefined) throw new Error(`${name} was not parsed`);
  return value;
}

/** Carries the answer for the part that succeeded. */
export class PartialFailure extends Error {
  override readonly name = 'PartialFailure';
  readonly answer: object;

  constructor(message: string, answer: object) {
    super(message);
    this.answer = answer;
  }
}
