import { firstWorld } from '../model/first-world.js';
import { stepsFrom } from '../model/steps.js';
import type { World } from '../model/world.js';
import { POLICY, type Policy } from '../policy.js';
import { brokenIn, isEnd, isForAPerson } from '../promises.js';
import type { Setting } from '../setting.js';
import { readWorld } from './read-world.js';
import { Ways } from './ways-to-an-end.js';
import { writeWorld } from './write-world.js';

export interface Explored {
  /** As text, in the order in which they were found. */
  readonly states: readonly string[];
  readonly steps: number;
  /** The most steps that a state is away from the claim, by the shortest way. */
  readonly depth: number;
  /** What has happened somewhere. */
  readonly met: ReadonlySet<string>;
  /** How a promise is broken, step by step; undefined when each is kept everywhere. */
  readonly story: string | undefined;
}

/**
 * Breadth first over everything that can happen, until no new state appears. So what it says holds for every order of
 * events of the model, and a story that it tells is a shortest one.
 */
export function explore(setting: Setting, policy: Policy = POLICY): Explored {
  const search = new Search(setting);
  search.reach(firstWorld(setting), 'a payment claims the session');
  const ways = new Ways();
  const ends: number[] = [];
  let steps = 0;
  for (let state = 0; state < search.states.length; state++) {
    search.from = state;
    const world = readWorld(search.states[state] ?? '');
    const isBroken = brokenIn(world);
    if (isBroken !== undefined) return search.told(steps, [isBroken]);
    if (isEnd(world) || (!setting.explains && isForAPerson(world))) ends.push(state);
    for (const step of stepsFrom(world, { policy, setting })) {
      steps += 1;
      if (step.broken !== undefined) return search.told(steps, [step.what, step.broken]);
      const next = search.reach(step.world, step.what);
      if (step.isHonest) ways.add(state, next);
    }
  }
  const stuck = ways.firstWithout(ends, search.states.length);
  if (stuck === undefined) return search.told(steps);
  search.from = stuck;
  return search.told(steps, ['nothing but a person leads to an end from here']);
}

class Search {
  readonly states: string[] = [];
  /** The state that is being left. */
  from = -1;
  readonly #numbers = new Map<string, number>();
  readonly #cameFrom: number[] = [];
  readonly #cameBy: string[] = [];
  readonly #depths: number[] = [];
  readonly #met = new Set<string>();
  readonly #setting: Setting;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  reach(world: World, what: string): number {
    this.#met.add(what);
    const text = writeWorld(world, this.#setting);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.states.push(text) - 1;
    this.#numbers.set(text, number);
    this.#cameFrom.push(this.from);
    this.#cameBy.push(what);
    this.#depths.push((this.#depths[this.from] ?? -1) + 1);
    return number;
  }

  told(steps: number, last?: readonly string[]): Explored {
    const story = last && [...this.#wayTo(this.from), ...last].join('\n');
    return { states: this.states, steps, depth: this.#depths.at(-1) ?? 0, met: this.#met, story };
  }

  #wayTo(state: number): string[] {
    const way: string[] = [];
    for (let at = state; at >= 0; at = this.#cameFrom[at] ?? -1) way.unshift(this.#cameBy[at] ?? '');
    return way;
  }
}
