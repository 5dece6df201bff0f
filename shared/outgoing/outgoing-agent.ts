import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { type AnswerBounds, areTooManyPieces } from './answer-meter.js';
import { guardConnect } from './guarded-connect.js';
import { OutOfBounds } from './out-of-bounds.js';

/**
 * Calls to servers of others, whose answers are bounded in bytes on the wire, pieces and interim answers. A call whose answer
 * exceeds a bound ends with OutOfBounds. Each client limits the time of its calls by itself.
 */
export interface Outgoing {
  dispatcher: Dispatcher;
  destroy(): Promise<void>;
}

interface OutgoingOptions extends Agent.Options {
  connect: buildConnector.connector;
}

export function openOutgoing(bounds: AnswerBounds, { connect, ...options }: OutgoingOptions): Outgoing {
  const agent = new Agent({ ...options, connect: guardConnect(connect, bounds) });
  const dispatcher = agent.compose(
    (dispatch) => (request, handler) => dispatch(request, new PieceCounter(handler, bounds)),
  );
  return { dispatcher, destroy: () => agent.destroy() };
}

/** Counts the pieces of a body after chunked decoding: a slice of the wire may hold hundreds. */
class PieceCounter implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #bounds: AnswerBounds;
  #pieces = 0;
  #bytes = 0;

  constructor(handler: Dispatcher.DispatchHandler, bounds: AnswerBounds) {
    this.#handler = handler;
    this.#bounds = bounds;
  }

  onRequestStart(...all: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestStart']>>): void {
    this.#handler.onRequestStart?.(...all);
  }

  onResponseStart(...all: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.#handler.onResponseStart?.(...all);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#pieces += 1;
    this.#bytes += chunk.length;
    if (areTooManyPieces(this.#bounds, this.#pieces, this.#bytes))
      controller.abort(new OutOfBounds('TOO_MANY_PIECES'));
    else this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(...all: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.#handler.onResponseEnd?.(...all);
  }

  onResponseError(...all: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseError']>>): void {
    this.#handler.onResponseError?.(...all);
  }
}
