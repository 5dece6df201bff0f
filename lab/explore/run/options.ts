import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { asUsage, readWholeNumber } from '../../world/program/usage.js';

export type ExploreOptions = ReturnType<typeof readOptions>;

export const USAGE = `npm run explore -- --policy | --rows | --history URL | [--trials N] [--seed S] [--path P] [--mutant NAME]

--policy   explores the policy's model completely
--rows     prints the rows of the policy
--history  checks the recorded history of every payment of the database at postgres://…, without writing
--trials   random trials to run
--seed     draws the same trials again
--path     replays the failing trial that a run printed
--mutant   runs with the mutant whose name contains NAME, which must be found
`;

const DEFAULT_TRIALS = 1000;

export function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    policy: flag,
    rows: flag,
    history: text,
    trials: text,
    seed: text,
    path: text,
    mutant: text,
  };
  const { values } = asUsage(() => parseArgs({ args, options }));
  return {
    ...values,
    trials: readWholeNumber('trials', values.trials, DEFAULT_TRIALS),
    seed: readWholeNumber('seed', values.seed, randomInt(1, 1_000_000)),
  };
}
