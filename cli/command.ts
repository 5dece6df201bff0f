import type { Knex } from '../shared/db/knex.js';

export type Input = Record<string, string | undefined>;

/** What the row of `operator_actions` says that a command which changes something leaves. */
export interface Deed {
  /** Its subject, or what it made. */
  about: string | undefined;
  /** Of the account that its answer shows; what is missing there is told beside it. */
  solanaWallet?: string | null;
  /** Writes the row. */
  record(db: Knex): Promise<void>;
}

export interface Command {
  usage: string;
  /** What the one positional argument is, if there is one. */
  subject?: string;
  options: readonly string[];
  /** Options without a value. */
  flags?: readonly string[];
  required: readonly string[];
  /** `at once`: in one transaction with the row that tells of it. `piecemeal`: in several, after the row that it records. */
  changes?: 'at once' | 'piecemeal';
  /** Whether it sends data to standard output, beside which its answer goes to standard error. */
  isBesideData?(input: Input): boolean;
  run(db: Knex, input: Input, deed: Deed): Promise<object>;
}

/** An argument that parsing has made sure of. */
export function subjectOf(input: Input, name: string): string {
  const value = input[name];
  if (value === undefined) throw new Error(`${name} was not parsed`);
  return value;
}

/** What was done is told all the same, beside what could not be. */
export class DoneInPart extends Error {
  override readonly name = 'DoneInPart';
  readonly answer: object;

  constructor(message: string, answer: object) {
    super(message);
    this.answer = answer;
  }
}
