import { ROWS } from '../../../world/history/rows.js';
import { ReverseGraph } from './reverse-graph.js';

/** One step of a model to another of its worlds. */
export interface ModelStep<World> {
  readonly what: string;
  readonly world: World;
  /** All parties are honest in this step. Everything reaches its end by honest steps alone. */
  readonly isHonest: boolean;
  /** The invariant that this step breaks. */
  readonly broken?: string | undefined;
  /** The rows of the policy that decided. */
  readonly rows?: readonly string[];
}

export interface Model<World> {
  readonly first: World;
  readonly begins: string;
  stepsFrom(world: World): Iterable<ModelStep<World>>;
  /** Equivalent worlds have the same text. */
  encode(world: World): string;
  decode(text: string): World;
  /** The invariant that a world breaks. */
  broken(world: World): string | undefined;
  isEnd(world: World): boolean;
  /** Said of a world from which honest steps lead to no end. */
  readonly stuck: string;
}

export interface Explored {
  /** Encoded states, in the order in which they were found. */
  readonly states: readonly string[];
  readonly steps: number;
  /** The largest number of steps from the claim to a state, by the shortest path. */
  readonly depth: number;
  /** The descriptions of all steps that occurred. */
  readonly met: ReadonlySet<string>;
  /** The rows of the policy that decided somewhere. */
  readonly rows: ReadonlySet<string>;
  /** The steps to a broken invariant; undefined when none is broken. */
  readonly counterexample: string | undefined;
}

/**
 * Explores all possible steps breadth first, until no new state appears. The result therefore holds for every order of
 * events in the model, and a reported trace is a shortest one.
 */
export function searchWhole<World>(model: Model<World>): Explored {
  const search = new Search(model);
  search.reach({ world: model.first, what: model.begins });
  const graph = new ReverseGraph();
  const ends: number[] = [];
  let steps = 0;
  for (let state = 0; state < search.states.length; state++) {
    search.from = state;
    const world = model.decode(search.states[state] ?? '');
    const isBroken = model.broken(world);
    if (isBroken !== undefined) return search.result(steps, isBroken);
    if (model.isEnd(world)) ends.push(state);
    for (const step of model.stepsFrom(world)) {
      steps += 1;
      if (step.broken !== undefined) return search.result(steps, step.broken, step);
      const next = search.reach(step);
      if (step.isHonest) graph.add(state, next);
    }
  }
  const stuck = graph.firstWithout(ends, search.states.length);
  if (stuck === undefined) return search.result(steps);
  search.from = stuck;
  return search.result(steps, model.stuck);
}

class Search<World> {
  readonly states: string[] = [];
  /** The state whose steps are explored. */
  from = -1;
  readonly #numbers = new Map<string, number>();
  readonly #cameFrom: number[] = [];
  readonly #cameBy: Happened[] = [];
  readonly #depths: number[] = [];
  readonly #met = new Set<string>();
  readonly #rows = new Set<string>();
  readonly #encode: (world: World) => string;

  constructor({ encode }: Pick<Model<World>, 'encode'>) {
    this.#encode = encode;
  }

  reach({ world, what, rows = [] }: Happened & { readonly world: World }): number {
    this.#met.add(what);
    for (const row of rows) this.#rows.add(row);
    const text = this.#encode(world);
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
   * The invariant is broken by `step`, or by the state whose steps are explored. The counterexample ends with the rows that decided
   * last.
   */
  result(steps: number, broken?: string, step?: Happened): Explored {
    const way = [...this.#wayTo(this.from), ...(step === undefined ? [] : [step])];
    const decidedBy = way.findLast(({ rows = [] }) => rows.length > 0)?.rows ?? [];
    const counterexample = broken && [...way.map(line), ...decidedBy.map(rowInWords), broken].join('\n');
    const depth = this.#depths.at(-1) ?? 0;
    return { states: this.states, steps, depth, met: this.#met, rows: this.#rows, counterexample };
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
type Happened = Pick<ModelStep<unknown>, 'what' | 'rows'>;

function line({ what, rows = [] }: Happened): string {
  return rows.length === 0 ? what : `${what} [${rows.join(', ')}]`;
}

/** The texts of docs/payment-policy.md. */
function rowInWords(row: string): string {
  return `  row ${row}: ${ROWS.get(row)}`;
}
