import { firstWorld } from '../model/first-world.js';
import type { Step } from '../model/step.js';
import { stepsFrom } from '../model/steps.js';
import { POLICY, type Policy } from '../policy.js';
import { brokenIn, isEnd, isForAPerson } from '../promises.js';
import { ROWS } from '../rows.js';
import type { Setting } from '../setting.js';
import { readWorld } from './read-world.js';
import { Ways } from './ways-to-an-end.js';
import { writeWorld } from './write-world.js';

export interface Explored {
  /** The text of each state, in the order in which they were found. */
  readonly states: readonly string[];
  readonly steps: number;
  /** The most steps that a state is away from the claim, by the shortest way. */
  readonly depth: number;
  /** The texts of the steps that happened somewhere. */
  readonly met: ReadonlySet<string>;
  /** The rows of the policy that decided somewhere. */
  readonly rows: ReadonlySet<string>;
  /** The steps to a broken promise. Undefined when every promise holds everywhere. */
  readonly story: string | undefined;
}

/**
 * Breadth first over every step, until no new state appears. The result holds for every order of events of the model, and
 * the story is a shortest one.
 */
export function explore(setting: Setting, policy: Policy = POLICY): Explored {
  const search = new Search(setting);
  search.reach({ world: firstWorld(setting), what: 'a payment claims the session' });
  const ways = new Ways();
  const ends: number[] = [];
  let steps = 0;
  for (let state = 0; state < search.states.length; state++) {
    search.from = state;
    const world = readWorld(search.states[state] ?? '');
    const isBroken = brokenIn(world);
    if (isBroken !== undefined) return search.told(steps, isBroken);
    if (isEnd(world) || (!setting.explains && isForAPerson(world))) ends.push(state);
    for (const step of stepsFrom(world, { policy, setting })) {
      steps += 1;
      if (step.broken !== undefined) return search.told(steps, step.broken, step);
      const next = search.reach(step);
      if (step.isHonest) ways.add(state, next);
    }
  }
  const stuck = ways.firstWithout(ends, search.states.length);
  if (stuck === undefined) return search.told(steps);
  search.from = stuck;
  return search.told(steps, 'nothing but a person leads to an end from here');
}

class Search {
  readonly states: string[] = [];
  /** The state that is being left. */
  from = -1;
  readonly #numbers = new Map<string, number>();
  readonly #cameFrom: number[] = [];
  readonly #cameBy: Happened[] = [];
  readonly #depths: number[] = [];
  readonly #met = new Set<string>();
  readonly #rows = new Set<string>();
  readonly #setting: Setting;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  reach({ world, what, rows = [] }: Happened & Pick<Step, 'world'>): number {
    this.#met.add(what);
    for (const row of rows) this.#rows.add(row);
    const text = writeWorld(world, this.#setting);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.states.push(text) - 1;
    this.#numbers.set(text, number);
    this.#cameFrom.push(this.from);
    this.#cameBy.push({ what, rows });
    this.#depths.push((this.#depths[this.from] ?? -1) + 1);
    return number;
  }

  /** Either `step` breaks the promise, or the state that is being left does. The story ends with the rows that decided last. */
  told(steps: number, broken?: string, step?: Step): Explored {
    const way = [...this.#wayTo(this.from), ...(step === undefined ? [] : [step])];
    const decidedBy = way.findLast(({ rows = [] }) => rows.length > 0)?.rows ?? [];
    const story = broken && [...way.map(line), ...decidedBy.map(rowInWords), broken].join('\n');
    const depth = this.#depths.at(-1) ?? 0;
    return { states: this.states, steps, depth, met: this.#met, rows: this.#rows, story };
  }

  #wayTo(state: number): Happened[] {
    const way: Happened[] = [];
    for (let at = state; at >= 0; at = this.#cameFrom[at] ?? -1) {
      const happened = this.#cameBy[at];
      if (happened !== undefined) way.unshift(happened);
    }
    return way;
  }
}

/** A step, with the rows of the policy that decided in it. */
type Happened = Pick<Step, 'what' | 'rows'>;

function line({ what, rows = [] }: Happened): string {
  return rows.length === 0 ? what : `${what} [${rows.join(', ')}]`;
}

/** The texts of docs/payment-policy.md. */
function rowInWords(row: string): string {
  return `  row ${row}: ${ROWS.get(row)}`;
}
