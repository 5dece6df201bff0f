import { ROWS } from '../../world/history/rows.js';
import type { Explored } from './breadth-first/search.js';
import { MUTANTS } from './mutants.js';
import { explore } from './search/explore.js';
import { SETTINGS } from './setting/setting.js';
import { exploreWitnesses } from './witnesses/explore-witnesses.js';
import { WITNESS_MUTANTS } from './witnesses/mutants.js';
import { LONG_SCOPES, SCOPES } from './witnesses/scopes.js';

/** Explores every setting and every mutant; true when no invariant broke in a setting, and every mutant was found. */
export function explorePolicy(print: (line: string) => void): boolean {
  const decided = new Set<string>();
  const models: [string, () => Explored][] = [
    ...Object.values(SETTINGS).map((one): [string, () => Explored] => [one.name, () => explore(one)]),
    ...[...Object.values(SCOPES), ...Object.values(LONG_SCOPES)].map((one): [string, () => Explored] => [
      `witnesses: ${one.name}`,
      () => exploreWitnesses(one),
    ]),
  ];
  let holds = true;
  let total = 0;
  for (const [name, run] of models) {
    const { states, steps, depth, rows, counterexample } = run();
    for (const row of rows) decided.add(row);
    total += states.length;
    print(`${pad(states.length)} states, ${pad(steps)} steps, ${depth} deep: ${name}`);
    if (counterexample === undefined) continue;
    holds = false;
    print(counterexample);
  }
  print(`${pad(total)} states in all.`);
  const idle = [...ROWS.keys()].filter((row) => !decided.has(row));
  print(`${pad(decided.size)} of ${ROWS.size} rows decided; not: ${idle.join(', ')}.`);
  return findMutants(print) && holds;
}

function findMutants(print: (line: string) => void): boolean {
  const mutants: [string, () => Explored][] = [
    ...MUTANTS.map(({ name, setting, policy }): [string, () => Explored] => [
      name,
      () => explore(setting, policy),
    ]),
    ...WITNESS_MUTANTS.map(({ name, witness, scope, rules }): [string, () => Explored] => [
      `${witness}: ${name}`,
      () => exploreWitnesses(scope, rules),
    ]),
  ];
  let areFound = true;
  for (const [name, run] of mutants) {
    const { states, counterexample } = run();
    areFound &&= counterexample !== undefined;
    print(
      `${pad(states.length)} states until found${counterexample === undefined ? ', and NOT FOUND' : ''}: ${name}`,
    );
  }
  return areFound;
}

function pad(count: number): string {
  return String(count).padStart(7);
}
