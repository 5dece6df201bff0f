/** What one call of a facilitator's endpoint shall do instead of the honest thing. */
export interface Behaviour {
  /** Waits for this first. */
  hold?: Promise<void>;
  delayMs?: number;
  /** False leaves the work undone: no money moves. True unless told. */
  works?: boolean | 'after_answering';
  /** Makes the answer; gets the honest one when the work was done. */
  answer?: (honest: FacilitatorAnswer | undefined) => FacilitatorAnswer;
  /** How the connection ends in place of the answer, or in the middle of it. */
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

const HONEST: Behaviour = {};

/** How one endpoint behaves: first what is queued, call by call, then always the same. */
export class Dial {
  #queued: Behaviour[] = [];
  #always = HONEST;
  readonly #endWaiting = new Set<() => void>();

  /** The next calls, one each. */
  next(...behaviours: Behaviour[]): void {
    this.#queued.push(...behaviours);
  }

  /** Every call after the queued ones. */
  always(behaviour: Behaviour): void {
    this.#always = behaviour;
  }

  honest(): void {
    this.#queued = [];
    this.#always = HONEST;
  }

  /** The next call waits until it is released, then behaves as told. */
  holdNext(behaviour: Behaviour = HONEST): Hold {
    const { hold, release } = this.#newHold();
    this.next({ ...behaviour, hold });
    return { release };
  }

  /** Every call waits until they are released, together. */
  holdAll(behaviour: Behaviour = HONEST): Hold {
    const { hold, release } = this.#newHold();
    this.always({ ...behaviour, hold });
    return { release };
  }

  take(): Behaviour {
    return this.#queued.shift() ?? this.#always;
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

  releaseAll(): void {
    for (const end of this.#endWaiting) end();
    this.#endWaiting.clear();
  }

  #newHold(): { hold: Promise<void>; release: () => void } {
    let release: () => void = () => {};
    const hold = new Promise<void>((done) => {
      release = done;
    });
    this.#endWaiting.add(release);
    return { hold, release: () => release() };
  }
}

/** Answers this, and does nothing. */
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

/** `/verify` refuses, and does nothing. */
export function refuses(invalidReason: string, invalidMessage?: string): Behaviour {
  return answers(200, { isValid: false, invalidReason, invalidMessage, payer: '' });
}

/** `/settle` fails, and does nothing; with a transaction it names one that never lands. */
export function failsToSettle(errorReason: string, transaction = ''): Behaviour {
  return answers(200, { success: false, errorReason, transaction, network: '', payer: null });
}

/** Does the work, and answers it with these fields changed; undefined leaves one out. */
export function altered(changes: Record<string, unknown>, status = 200): Behaviour {
  return {
    answer: (honest) => ({ status, body: { ...Object(honest?.body), ...changes } }),
  };
}

/** Moves the money and says that it does not know yet, with the hash. */
export function settlesAsPending(): Behaviour {
  return altered({ success: false, errorReason: 'settlement_pending' });
}

/** Ends the connection without having done anything. */
export function breaksBeforeWork(connection: 'reset' | 'drop' = 'reset'): Behaviour {
  return { works: false, connection };
}

/** Does the work and ends the connection without, or in the middle of, the answer. */
export function breaksAfterWork(connection: 'reset' | 'drop' | 'truncate' = 'reset'): Behaviour {
  return { connection };
}

/** Does the work, and answers it as a server that then broke. */
export function failsAfterWork(status: number, body: unknown = 'internal error'): Behaviour {
  return { answer: () => ({ status, body }) };
}

export function slow(delayMs: number, behaviour: Behaviour = HONEST): Behaviour {
  return { ...behaviour, delayMs };
}
