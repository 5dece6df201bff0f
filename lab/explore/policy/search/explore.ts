import { ROWS } from '../../../world/history/rows.js';
import { firstWorld } from '../model/first-world.js';
import type { Step } from '../model/step.js';
import { stepsFrom } from '../model/steps.js';
import { POLICY, type Policy } from '../setting/policy.js';
import type { Setting } from '../setting/setting.js';
import { decodeWorld } from './decode-world.js';
import { encodeWorld } from './encode-world.js';
import { brokenInvariant, isEnd, needsOperator } from './invariants.js';
import { ReverseGraph } from './reverse-graph.js';

export interface Explored {
  /** Encoded, in the order in which they were found. */
  readonly states: readonly string[];
  readonly steps: number;
  /** The largest number of steps from the claim to a state, by the shortest path. */
  readonly depth: number;
  /** The descriptions of all steps that occurred. */
  readonly met: ReadonlySet<string>;
  /** The rows of the policy that decided somewhere. */
  readonly rows: ReadonlySet<string>;
  /** The steps to a broken invariant; undefined when none is broken. */
  readonly story: string | undefined;
}

/**
 * Explores all possible steps breadth first, until no new state appears. The result therefore holds for every order of
 * events in the model, and a reported trace is a shortest one.
 */
export function explore(setting: Setting, policy: Policy = POLICY): Explored {
  const search = new Search(setting);
  search.reach({ world: firstWorld(setting), what: 'a payment claims the session' });
  const graph = new ReverseGraph();
  const ends: number[] = [];
  let steps = 0;
  for (let state = 0; state < search.states.length; state++) {
    search.from = state;
    const world = decodeWorld(search.states[state] ?? '');
    const isBroken = brokenInvariant(world);
    if (isBroken !== undefined) return search.result(steps, isBroken);
    if (isEnd(world) || (!setting.explains && needsOperator(world))) ends.push(state);
    for (const step of stepsFrom(world, { policy, setting })) {
      steps += 1;
      if (step.broken !== undefined) return search.result(steps, step.broken, step);
      const next = search.reach(step);
      if (step.isHonest) graph.add(state, next);
    }
  }
  const stuck = graph.firstWithout(ends, search.states.length);
  if (stuck === undefined) return search.result(steps);
  search.from = stuck;
  return search.result(steps, 'only an operator leads to an end from here');
}

class Search {
  readonly states: string[] = [];
  /** The state whose steps are explored. */
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
    const text = encodeWorld(world, this.#setting);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.states.push(text) - 1;
    this.#numbers.set(text, number);
    this.#cameFrom.push(this.from);
    this.#cameBy.push({ what, rows });
    this.#depths.push((this.#depths[this.from] ?? -1) + 1);
    return number;
  }

  /**
   * The invariant is broken by `step`, or by the state whose steps are explored. The story ends with the rows that decided
   * last.
   */
  result(steps: number, broken?: string, step?: Step): Explored {
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
