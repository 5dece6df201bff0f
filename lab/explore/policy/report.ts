import { ROWS } from '../../world/history/rows.js';
import { MUTANTS } from './mutants.js';
import { explore } from './search/explore.js';
import { SETTINGS } from './setting/setting.js';

/** Explores every setting and every mutant; true when no invariant broke in a setting, and every mutant was found. */
export function explorePolicy(print: (line: string) => void): boolean {
  let isWell = true;
  let total = 0;
  const decided = new Set<string>();
  for (const setting of Object.values(SETTINGS)) {
    const { states, steps, depth, rows, story } = explore(setting);
    for (const row of rows) decided.add(row);
    total += states.length;
    print(`${pad(states.length)} states, ${pad(steps)} steps, ${depth} deep: ${setting.name}`);
    if (story === undefined) continue;
    isWell = false;
    print(story);
  }
  print(`${pad(total)} states in all.`);
  const idle = [...ROWS.keys()].filter((row) => !decided.has(row));
  print(`${pad(decided.size)} of ${ROWS.size} rows decided; not: ${idle.join(', ')}.`);
  for (const { name, setting, policy } of MUTANTS) {
    const { states, story } = explore(setting, policy);
    isWell &&= story !== undefined;
    print(`${pad(states.length)} states until found${story === undefined ? ', and NOT FOUND' : ''}: ${name}`);
  }
  return isWell;
}

function pad(count: number): string {
  return String(count).padStart(7);
}
