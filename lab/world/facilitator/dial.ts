import { withResolvers } from '../../../shared/process/with-resolvers.js';

/** How one call of a facilitator's endpoint differs from honest behaviour. */
export interface Behaviour {
  /** The call waits for this first. */
  hold?: Promise<void>;
  delayMs?: number;
  /** False skips the work, so that no money moves. True by default. */
  works?: boolean | 'after_answering';
  /** Builds the answer from the honest one, which is undefined when the work was skipped. */
  answer?: (honest: FacilitatorAnswer | undefined) => FacilitatorAnswer;
  /** How the connection ends as soon as the transaction is sent, or for how long the facilitator then crashes. */
  atBroadcast?: 'drop' | { crashMs: number };
  /** How the connection ends before the answer, or in the middle of it. */
  connection?: 'reset' | 'drop' | 'truncate';
}

export interface FacilitatorAnswer {
  status: number;
  body: unknown;
  contentType?: string;
  headers?: Record<string, string>;
}

export interface Hold {
  release(): void;
}

/** Finds the behaviour of a call by its body. */
type Choose = (body: unknown) => Behaviour | undefined;

const HONEST: Behaviour = {};

/** How one endpoint behaves: the queued behaviours first, one per call, then the standing one. */
export class Dial {
  #queued: Behaviour[] = [];
  #always = HONEST;
  #choose: Choose = () => undefined;
  readonly #endWaiting = new Set<() => void>();

  /** Queues behaviours for the next calls, one each. */
  next(...behaviours: Behaviour[]): void {
    this.#queued.push(...behaviours);
  }

  /** Sets the behaviour of every call after the queued ones. */
  always(behaviour: Behaviour): void {
    this.#always = behaviour;
  }

  /** Sets the behaviour of the calls for which `choose` has one, before all others. */
  choose(choose: Choose): void {
    this.#choose = choose;
  }

  honest(): void {
    this.#queued = [];
    this.#always = HONEST;
    this.#choose = () => undefined;
  }

  /** The next call waits until it is released, then shows this behaviour. */
  holdNext(behaviour: Behaviour = HONEST): Hold {
    const held = this.held(behaviour);
    this.next(held);
    return held;
  }

  /** Every call waits until all are released together. */
  holdAll(behaviour: Behaviour = HONEST): Hold {
    const held = this.held(behaviour);
    this.always(held);
    return held;
  }

  /** A behaviour for `choose` or `next`, whose calls wait until they are released together. */
  held(behaviour: Behaviour = HONEST): Behaviour & Hold {
    const { hold, release } = this.#newHold();
    return { ...behaviour, hold, release };
  }

  take(body?: unknown): Behaviour {
    return this.#choose(body) ?? this.#queued.shift() ?? this.#always;
  }

  async wait({ delayMs, hold }: Behaviour): Promise<void> {
    if (delayMs !== undefined) {
      const { hold: delay, release } = this.#newHold();
      const timer = setTimeout(release, delayMs);
      await delay;
      clearTimeout(timer);
    }
    await hold;
  }

  /** Ends every hold and every running delay. */
  releaseAll(): void {
    for (const end of this.#endWaiting) end();
    this.#endWaiting.clear();
  }

  #newHold(): { hold: Promise<void>; release: () => void } {
    const { promise: hold, resolve: release } = withResolvers();
    this.#endWaiting.add(release);
    return { hold, release };
  }
}

/** Answers this without doing the work. */
export function answers(status: number, body: unknown = { error: `HTTP ${status}` }): Behaviour {
  return { works: false, answer: () => ({ status, body }) };
}

export function answersHtml(status: number): Behaviour {
  const body = '<html><body>upstream error</body></html>';
  return { works: false, answer: () => ({ status, body, contentType: 'text/html' }) };
}

export function answersGarbage(status = 200): Behaviour {
  return {
    works: false,
    answer: () => ({ status, body: '{"success": tru', contentType: 'application/json' }),
  };
}

/** `/verify` refuses without doing the work. */
export function refuses(invalidReason: string, invalidMessage?: string): Behaviour {
  return answers(200, { isValid: false, invalidReason, invalidMessage, payer: '' });
}

/** `/settle` fails without doing the work; `transaction` never lands. */
export function failsToSettle(errorReason: string, transaction = ''): Behaviour {
  return answers(200, { success: false, errorReason, transaction, network: '', payer: null });
}

/** Does the work and answers with these fields changed; undefined removes a field. */
export function altered(changes: Record<string, unknown>, status = 200): Behaviour {
  return {
    answer: (honest) => ({ status, body: { ...Object(honest?.body), ...changes } }),
  };
}

/** Moves the money and answers pending, with the hash. */
export function settlesAsPending(): Behaviour {
  return altered({ success: false, errorReason: 'settlement_pending' });
}

/** Ends the connection before any work. */
export function breaksBeforeWork(connection: 'reset' | 'drop' = 'reset'): Behaviour {
  return { works: false, connection };
}

/** Does the work and ends the connection before, or in the middle of, the answer. */
export function breaksAfterWork(connection: 'reset' | 'drop' | 'truncate' = 'reset'): Behaviour {
  return { connection };
}

/** Does the work and answers with a server error. */
export function failsAfterWork(status: number, body: unknown = 'internal error'): Behaviour {
  return { answer: () => ({ status, body }) };
}

export function slow(delayMs: number, behaviour: Behaviour = HONEST): Behaviour {
  return { ...behaviour, delayMs };
}
