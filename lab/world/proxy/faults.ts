/** `up` is from the client to the server. */
export type Way = 'up' | 'down';

/** The traffic that a fault applies to. */
export interface Scope {
  /** Default: both. */
  ways?: readonly Way[];
  /** Called for each open connection, and for each new one while the fault lasts: true includes it. */
  holds?(): boolean;
  /** The fault begins on a connection with the first piece of traffic that matches. Default: at once. */
  from?: RegExp;
}

/** Keeps traffic until it is removed, or drops and records it. */
export class Hold {
  readonly drops: boolean;
  readonly #scope: Scope;
  readonly #dropped = new Map<object, string>();

  constructor(scope: Scope, { drops }: { drops: boolean }) {
    this.#scope = scope;
    this.drops = drops;
  }

  get ways(): readonly Way[] {
    return this.#scope.ways ?? ['up', 'down'];
  }

  includesNext(): boolean {
    return this.#scope.holds?.() ?? true;
  }

  beginsWith(bytes: Buffer | undefined): boolean {
    const { from } = this.#scope;
    return from === undefined || (bytes !== undefined && from.test(bytes.toString('latin1')));
  }

  drop(lane: object, bytes: Buffer): void {
    this.#dropped.set(lane, (this.#dropped.get(lane) ?? '') + bytes.toString('utf8'));
  }

  /** The dropped text of each connection and way that lost some. */
  dropped(): string[] {
    return [...this.#dropped.values()];
  }
}

/** Where to cut a connection. Bytes before the cut are delivered. */
export type CutPoint =
  /** The cut comes after this many bytes of the request; a negative number counts from its end. */
  | { requestBytes: number }
  /** The cut comes after this many bytes of the answer; a negative number counts from its end. */
  | { answerBytes: number }
  /** The cut comes when this promise resolves, after the whole request has been delivered. */
  | { when: Promise<unknown> };

/** Cuts the connection of the next request that matches. */
export class Cut {
  readonly #request: RegExp;
  readonly #point: CutPoint;
  #match: RegExpExecArray | null = null;
  #answered = 0;

  constructor(request: RegExp, point: CutPoint) {
    this.#request = request;
    this.#point = point;
  }

  matches(bytes: Buffer): boolean {
    this.#match = this.#request.exec(bytes.toString('latin1'));
    return this.#match !== null;
  }

  /** The pattern's first group in the request that was cut. */
  matched(): string {
    if (this.#match === null) throw new Error(`no request matched ${this.#request}`);
    return this.#match[1] ?? '';
  }

  get when(): Promise<unknown> | undefined {
    return 'when' in this.#point ? this.#point.when : undefined;
  }

  /** The part of a piece before the cut; undefined when the cut is not in it. */
  partOf(way: Way, bytes: Buffer): Buffer | undefined {
    if (way === 'up') {
      return 'requestBytes' in this.#point ? bytes.subarray(0, this.#point.requestBytes) : undefined;
    }
    if (!('answerBytes' in this.#point)) return undefined;
    const { answerBytes } = this.#point;
    const rest = answerBytes < 0 ? bytes.length + answerBytes : answerBytes - this.#answered;
    this.#answered += bytes.length;
    return rest < bytes.length ? bytes.subarray(0, rest) : undefined;
  }
}
