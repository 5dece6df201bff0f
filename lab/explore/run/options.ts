import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { asUsage, readWholeNumber } from '../../world/program/usage.js';

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
    trials: readWholeNumber('trials', values.trials, DEFAULT_TRIALS),
    seed: readWholeNumber('seed', values.seed, randomInt(1, 1_000_000)),
    path: values.path,
    mutant: values.mutant,
  };
}
