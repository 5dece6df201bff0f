import { UsageError } from '../../world/program/usage.js';
import { MUTANTS, type Mutant } from '../mutants/mutants.js';

/** The mutant whose name contains `part`. */
export function findMutant(part: string): Mutant {
  const mutant = MUTANTS.find(({ name }) => name.includes(part));
  if (mutant !== undefined) return mutant;
  const names = MUTANTS.map(({ name }) => `  ${name}`);
  throw new UsageError([`No mutant's name contains "${part}". There are:`, ...names].join('\n'));
}
