import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface ExploreOptions {
  /** Explores the policy alone, completely. */
  policy: boolean;
  /** Print the rows of the policy. */
  rows: boolean;
  /** The database whose payments' histories are checked. */
  history: string | undefined;
  trials: number;
  seed: number;
  path: string | undefined;
  /** A part of the name of a mutant. */
  mutant: string | undefined;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const DEFAULT_TRIALS = 1000;

export function readOptions(args: string[]): ExploreOptions {
  const text = { type: 'string' } as const;
  const options = {
    policy: { type: 'boolean' },
    rows: { type: 'boolean' },
    history: text,
    trials: text,
    seed: text,
    path: text,
    mutant: text,
  } as const;
  const { values } = asUsage(() => parseArgs({ args, options }));
  return {
    policy: values.policy ?? false,
    rows: values.rows ?? false,
    history: values.history,
    trials: readNumber('trials', values.trials, DEFAULT_TRIALS),
    seed: readNumber('seed', values.seed, randomInt(1, 1_000_000)),
    path: values.path,
    mutant: values.mutant,
  };
}

function readNumber(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new UsageError(`--${name} must be a whole number above 0; you said ${value}.`);
}

/** For an unknown option, `parseArgs` throws a TypeError. */
function asUsage<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}
