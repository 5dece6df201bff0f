import mutants from './mutants.json' with { type: 'json' };

/**
 * Single faults in the product's code, each with the spec that must fail because of it. `npm run mutants` plants one after
 * the other in a copy of the project and runs that spec.
 */
export interface Mutant {
  name: string;
  file: string;
  /** Stands in the file once. */
  from: string;
  to: string;
  spec: string;
}

export const MUTANTS: readonly Mutant[] = mutants;
