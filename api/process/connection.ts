import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../../shared/errors/refusal.js';
import { HELD_INPUT, MAX_UNANSWERED_OF_CONNECTION, READ_OUT } from '../../shared/limits/bounds.js';
import type { TurnTime } from '../../shared/process/turn-time.js';
import { noteUnreadable } from '../http/unreadable-request.js';
import type { HeldInput } from './held-input.js';
import { pieceLength } from './piece-length.js';
import { refusalOfError, refusalOfHead } from './refuse-request.js';
import type { Turns } from './turns.js';

/** Node's parser gets at most the head of a second request together with the first. */
const REQUESTS_OF_PIECE = 2;

interface ConnectionDeps {
  held: HeldInput;
  turns: Turns;
  /** The time for input that arrives at many connections at once. */
  arrivalTime: TurnTime;
  /** Answers with the refusal as if a request had been read. */
  answer(socket: Socket, refusal: Refusal): void;
}

/**
 * The input of one connection on its way to Node's parser, which takes whatever has arrived at once: thousands of requests in
 * 64 KiB. Here the parser gets one request at a time, in turn with other connections, while fewer than
 * MAX_UNANSWERED_OF_CONNECTION requests have no answer. The rest of the input waits, and with it the client; so does input
 * that arrives at hundreds of connections in one turn of the event loop. When a request cannot be read, the earlier requests
 * are answered first. Input that arrives after the last answer is read and dropped.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  /** Node's own listeners of the socket. */
  readonly #parse: (bytes: Buffer) => void;
  readonly #parseEnd: () => void;
  readonly #goOn = (): void => this.#pump();
  readonly #onAnswered = (): void => this.#answered();
  /** `refusing`: no input is parsed any more, and the connection closes after the answers that are due. */
  #state: 'reading' | 'refusing' | 'closing' = 'reading';
  #rest: Buffer | undefined;
  #hasEnded = false;
  #isHolding = false;
  #unanswered = 0;
  #begun = 0;
  #last: IncomingMessage | undefined;
  /** Bytes of a head or body that is not complete. */
  #partBytes = 0;
  #refusal: Refusal | undefined;
  #droppedBytes = 0;

  /** Node must have added its listeners to the socket before. */
  constructor(socket: Socket, deps: ConnectionDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#parse = takeOver(socket, 'data', (bytes: Buffer) => this.#take(bytes));
    this.#parseEnd = takeOver(socket, 'end', () => this.#takeEnd());
    // Node resumes a socket after it has paused it for a slow reader of a body or of answers.
    socket.on('resume', () => this.#resumed());
    socket.on('close', () => this.#deps.held.set(this, 0));
    // Node closes a connection with this method after an answer with `Connection: close`.
    socket.destroySoon = () => this.#close();
  }

  /** Called for every request whose head was parsed. */
  begin(req: IncomingMessage, res: ServerResponse): void {
    this.#unanswered += 1;
    this.#begun += 1;
    this.#last = req;
    this.#partBytes = 0;
    res.on('finish', this.#onAnswered);
    const refusal = refusalOfHead(req);
    if (refusal === undefined || this.#state !== 'reading') return;
    noteUnreadable(req, refusal);
    this.#stopReading();
  }

  /** Called when the input is not HTTP, or took too long. */
  fail(error: NodeJS.ErrnoException): void {
    if (this.#state !== 'reading' || this.#socket.destroyed) return;
    if (!this.#socket.writable) {
      this.#socket.destroy(error);
      return;
    }
    const isIdle = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && this.#partBytes === 0;
    this.#stopReading();
    const refusal = refusalOfError(error);
    if (this.#last?.complete === false) this.#breakOff(this.#last, refusal);
    else if (!isIdle) this.#refusal = refusal;
    this.#closeWhenAnswered();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** Whether the connection is between requests: the earlier ones are answered, and nothing of a next one has arrived. */
  isIdle(): boolean {
    const isBetween = this.#begun > 0 && this.#unanswered === 0 && this.#partBytes === 0;
    return isBetween && this.#rest === undefined && this.#state === 'reading' && !this.#isInBody();
  }

  takeTurn(): void {
    this.#pump();
  }

  #take(bytes: Buffer): void {
    if (this.#state !== 'reading') {
      this.#droppedBytes += bytes.length;
      if (this.#droppedBytes > READ_OUT.bytes) this.#socket.destroy();
    } else if (this.#rest === undefined) {
      this.#rest = bytes;
      if (this.#isInBody() || this.#mayArrive()) this.#pump();
      else this.#wait();
    } else {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      this.#hold();
    }
  }

  #takeEnd(): void {
    this.#hasEnded = true;
    if (this.#rest === undefined && this.#mayArrive()) this.#pump();
  }

  /** A connection that has sent a whole request before does not wait for all the new ones. */
  #mayArrive(): boolean {
    return this.#deps.arrivalTime.ask(this.#goOn, this.#begun > 0 ? 'known' : 'new');
  }

  /** Parses one request, with its body as far as that is there. */
  #pump(): void {
    const begunBefore = this.#begun;
    while (this.#rest !== undefined && this.#canParse()) {
      const room = Math.min(MAX_UNANSWERED_OF_CONNECTION - this.#unanswered, REQUESTS_OF_PIECE);
      const arrived: Buffer = this.#rest;
      const length = pieceLength(arrived, room);
      const isAll = length === arrived.length;
      this.#rest = isAll ? undefined : arrived.subarray(length);
      this.#feed(isAll ? arrived : arrived.subarray(0, length));
      if (this.#begun === begunBefore || this.#last?.complete === false) continue;
      this.#later();
      break;
    }
    if (!this.#isReading()) return;
    this.#countHeld();
    if (this.#rest !== undefined) {
      this.#hold();
      return;
    }
    this.#letGo();
    if (!this.#hasEnded) return;
    this.#hasEnded = false;
    this.#parseEnd();
  }

  /** Whether a body is still arriving. It needs no turn: to parse more of it costs little. */
  #isInBody(): boolean {
    return this.#last?.complete === false;
  }

  #wait(): void {
    this.#hold();
    this.#countHeld();
  }

  #countHeld(): void {
    const { held } = this.#deps;
    held.set(this, Math.min(this.#partBytes, HELD_INPUT.ofConnection) + (this.#rest?.length ?? 0));
  }

  #canParse(): boolean {
    // Node pauses the parser of a connection whose answers are not read, and the socket for a body that is not.
    const isPausedByNode =
      Reflect.get(this.#socket, '_paused') === true || (this.#socket.isPaused() && !this.#isHolding);
    return this.#isReading() && !this.#isFull() && !isPausedByNode;
  }

  #later(): void {
    if (this.#rest !== undefined) this.#deps.turns.add(this);
  }

  #feed(piece: Buffer): void {
    const last = this.#last;
    const wasComplete = last?.complete !== false;
    this.#parse(piece);
    if (this.#last !== last) return;
    const isCompletedNow = !wasComplete && last?.complete === true;
    this.#partBytes = isCompletedNow ? 0 : this.#partBytes + piece.length;
  }

  #hold(): void {
    this.#isHolding = true;
    this.#socket.pause();
  }

  #letGo(): void {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    this.#socket.resume();
  }

  #isReading(): boolean {
    return this.#state === 'reading' && !this.#socket.destroyed;
  }

  /** The rest of a request that has begun is still needed for its answer. */
  #isFull(): boolean {
    return this.#unanswered >= MAX_UNANSWERED_OF_CONNECTION && this.#last?.complete !== false;
  }

  #answered(): void {
    this.#unanswered -= 1;
    if (this.#state === 'reading') this.#later();
    else this.#closeWhenAnswered();
  }

  #resumed(): void {
    if (this.#rest === undefined || this.#state !== 'reading') return;
    this.#hold();
    this.#later();
  }

  #stopReading(): void {
    this.#state = 'refusing';
    this.#rest = undefined;
    this.#deps.held.set(this, 0);
    this.#letGo();
  }

  #closeWhenAnswered(): void {
    if (this.#state !== 'refusing' || this.#unanswered > 0) return;
    const refusal = this.#refusal;
    this.#refusal = undefined;
    if (refusal === undefined) this.#close();
    else this.#deps.answer(this.#socket, refusal);
  }

  /**
   * Refuses a body that ends in the middle. A handler that does not read it may be taking a payment: its answer is waited
   * for.
   */
  #breakOff(req: IncomingMessage, refusal: Refusal): void {
    noteUnreadable(req, refusal);
    if (req.listenerCount('error') === 0) return;
    req.emit('error', refusal);
    setTimeout(() => this.#close(), READ_OUT.ms).unref();
  }

  #close(): void {
    if (this.#state === 'closing') return;
    this.#stopReading();
    this.#state = 'closing';
    const socket = this.#socket;
    socket.end(() => {
      const timer = setTimeout(() => socket.destroy(), READ_OUT.ms);
      socket.once('close', () => clearTimeout(timer));
    });
    socket.resume();
  }
}

/** Replaces Node's listener, which was added last, and returns it. */
function takeOver<A extends unknown[]>(
  socket: Socket,
  event: 'data' | 'end',
  listener: (...args: A) => void,
): (...args: A) => void {
  const theirs = socket.listeners(event).at(-1);
  if (theirs === undefined) throw new Error(`no listener of the socket's ${event}`);
  socket.on(event, listener as (...args: unknown[]) => void);
  socket.off(event, theirs as (...args: unknown[]) => void);
  return (...args) => void theirs.apply(socket, args);
}
