/** Thrown by adapters when an endpoint's answers are missing, malformed or contradictory. */
export class ChainUnreadable extends Error {
  override readonly name: string = 'ChainUnreadable';
}

/** The answer exceeds the bounds of one answer: a shorter one may not. */
export class AnswerTooLong extends ChainUnreadable {
  override readonly name = 'AnswerTooLong';
}

export function isTooLong(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof AnswerTooLong);
}

/** The endpoint answers and asks for fewer calls: it is not down, and nothing is known about the payment. */
export class EndpointLimits extends ChainUnreadable {
  override readonly name = 'EndpointLimits';

  constructor(how?: string) {
    super(how === undefined ? LIMITED : `${LIMITED}: ${how}`);
  }
}

/** The endpoint was not asked: other calls were before this one in its queue. */
export class NoTurn extends ChainUnreadable {
  override readonly name = 'NoTurn';
  /** The pause before the check tries again; the queue gives each check another one. */
  readonly againInMs: number;

  constructor(againInMs: number) {
    super(WAITING_FOR_A_TURN);
    this.againInMs = againInMs;
  }
}

/** The first words of `reason` in the findings of limited and of waiting checks. */
const LIMITED = 'limited by the endpoint';
export const WAITING_FOR_A_TURN = 'waiting for a turn at the endpoint';

/** A reason for logs, without client libraries' messages: they contain the endpoint's URL, which may hold a key. */
export function unreadableReason(error: unknown): string {
  const causes = causesOf(error);
  const own = causes.find((cause) => cause instanceof ChainUnreadable);
  if (own !== undefined) return own.message;
  for (const cause of causes) {
    const status = httpStatus(cause);
    if (status !== undefined) return `the endpoint answered HTTP ${status}`;
    if ('code' in cause && typeof cause.code === 'number') return `the endpoint answered error ${cause.code}`;
    if ('code' in cause && typeof cause.code === 'string')
      return `the endpoint cannot be reached: ${cause.code}`;
  }
  return `the endpoint's answer cannot be used: ${causes[0]?.name ?? 'unknown'}`;
}

export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 10; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** viem puts the status in a property, @solana/web3.js at the start of the message. */
export function httpStatus(error: Error): number | undefined {
  if ('status' in error && typeof error.status === 'number') return error.status;
  const [, status] = /^([45]\d\d) /.exec(error.message) ?? [];
  return status === undefined ? undefined : Number(status);
}
