import { Failure } from './options.js';

/** An event as the list has it. `text` is the answer of its own path: the bytes that webhooks get. */
export interface ListedEvent {
  id: string;
  type: string;
  created: number;
}

interface EventsPage {
  events: ListedEvent[];
  hasMore: boolean;
  /** The service's time when it answered, in seconds. */
  at: number;
}

/** The service does not answer now, and may later. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

export interface EventsApi {
  /** The events that were created at `since` or later, newest first. */
  list(since: number, startingAfter: string | undefined): Promise<EventsPage>;
  textOf(id: string): Promise<string>;
}

const PAGE = 100;
/** The reason that fetch gives for a port that browsers block, such as 6000. */
const BAD_PORT = 'bad port';
const ANSWER_WITHIN_MS = 30_000;

export function openEventsApi(url: string, key: string, signal: AbortSignal): EventsApi {
  async function ask(path: string): Promise<{ text: string; at: number }> {
    const request = {
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
    };
    const answer = await answerOf(`${url}${path}`, request);
    if (answer.status !== 200) throw refusalOf(answer, url);
    const { text, date } = answer;
    const at = Date.parse(date ?? '');
    return { text, at: Math.floor((Number.isNaN(at) ? Date.now() : at) / 1000) };
  }

  return {
    async list(since, startingAfter) {
      const after = startingAfter === undefined ? '' : `&starting_after=${startingAfter}`;
      const { text, at } = await ask(`/v1/events?limit=${PAGE}&created[gte]=${since}${after}`);
      const { data, has_more: hasMore } = readList(text, url);
      return { events: data.map(({ id, type, created }) => ({ id, type, created })), hasMore, at };
    },
    async textOf(id) {
      return (await ask(`/v1/events/${id}`)).text;
    },
  };
}

interface Answered {
  status: number;
  text: string;
  date: string | null;
  retryAfter: string | null;
}

async function answerOf(url: string, request: RequestInit): Promise<Answered> {
  try {
    const answer = await fetch(url, request);
    const { status, headers } = answer;
    return {
      status,
      text: await answer.text(),
      date: headers.get('date'),
      retryAfter: headers.get('retry-after'),
    };
  } catch (error) {
    // A request that cannot be made: the key holds a line break, or the address a password.
    if (error instanceof TypeError && error.cause === undefined) throw new Failure(error.message);
    const code = codeOf(error);
    if (code === BAD_PORT)
      throw new Failure(`Node.js does not connect to the port of ${new URL(url).origin} (${code}).`);
    throw new Unavailable(code);
  }
}

/** A short name, such as ECONNREFUSED. The message of fetch's own errors says nothing; their cause has the reason. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  if (typeof code === 'string') return code;
  if (error.name === 'TimeoutError') return 'timeout';
  return cause instanceof Error ? cause.message : error.message;
}

interface WireEvents {
  object: string;
  has_more: boolean;
  data: ListedEvent[];
}

function readList(text: string, url: string): WireEvents {
  try {
    const list: WireEvents = JSON.parse(text);
    if (list.object === 'list') return list;
  } catch {
    // The error below also covers a body that is not JSON.
  }
  throw new Failure(`What answers at ${url} is not this service. Give its address as --url.`);
}

function refusalOf({ status, text, retryAfter }: Answered, url: string): Error {
  if (status === 429 || status >= 500) {
    const seconds = Number(retryAfter ?? Number.NaN);
    return new Unavailable(`HTTP ${status}`, Number.isNaN(seconds) ? undefined : seconds * 1000);
  }
  return new Failure(messageIn(text) ?? `${url} answers HTTP ${status}: it is not this service. See --url.`);
}

function messageIn(text: string): string | undefined {
  try {
    const { error }: { error?: { message?: unknown } } = JSON.parse(text);
    return typeof error?.message === 'string' ? error.message : undefined;
  } catch {
    return undefined;
  }
}
