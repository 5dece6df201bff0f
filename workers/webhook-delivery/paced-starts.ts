/** Tries start until this much of a turn of the event loop is used up. */
const STARTS_MS = 5;
/** After a turn that took longer, only one try starts. */
const LONG_TURN_MS = 10;
/** A start that has waited longer is not held back by long turns: the lease of its delivery runs. */
const LONGEST_WAIT_MS = 2000;

interface Waiting {
  since: number;
  start(): void;
}

/**
 * Starts tries, of accounts in turn. Most of a try's work follows its start: TLS, the body, the answer and the statements. The
 * tries in flight may make the turns of the event loop long, and other webhooks need several turns each. While turns are long,
 * only one try starts in each, so that fewer are in flight and turns become short again.
 */
export class PacedStarts {
  readonly #now: () => number;
  /** The starts that wait, by account; the account whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #isScheduled = false;
  #turnBeganAt = 0;
  #isAfterLongTurn = false;
  #startedInTurn = 0;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  run<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        this.#startedInTurn += 1;
        work().then(resolve, reject);
      };
      if (!this.#isScheduled) this.#beginTurn(false);
      if (this.#waiting.size === 0 && this.#mayStart()) return start();
      const waiting = { since: this.#now(), start };
      const ofAccount = this.#waiting.get(accountId);
      if (ofAccount === undefined) this.#waiting.set(accountId, [waiting]);
      else ofAccount.push(waiting);
    });
  }

  #beginTurn(isAfterLongTurn: boolean): void {
    this.#isScheduled = true;
    this.#turnBeganAt = this.#now();
    this.#isAfterLongTurn = isAfterLongTurn;
    this.#startedInTurn = 0;
    setImmediate(() => this.#endTurn());
  }

  /** A turn without a start is the last measured turn. */
  #endTurn(): void {
    this.#isScheduled = this.#startedInTurn > 0 || this.#waiting.size > 0;
    if (!this.#isScheduled) return;
    this.#beginTurn(this.#now() - this.#turnBeganAt > LONG_TURN_MS);
    for (let next = this.#next(); next !== undefined && this.#mayStart(next); next = this.#next()) {
      this.#takeNext();
      next.start();
    }
  }

  #mayStart(next?: Waiting): boolean {
    if (this.#startedInTurn === 0) return true;
    const now = this.#now();
    const isHeldBack = this.#isAfterLongTurn && (next === undefined || now - next.since <= LONGEST_WAIT_MS);
    return !isHeldBack && now - this.#turnBeganAt < STARTS_MS;
  }

  #next(): Waiting | undefined {
    const [first] = this.#waiting.values();
    return first?.[0];
  }

  /** The account goes to the end. */
  #takeNext(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [accountId, ofAccount] = first;
    ofAccount.shift();
    this.#waiting.delete(accountId);
    if (ofAccount.length > 0) this.#waiting.set(accountId, ofAccount);
  }
}
