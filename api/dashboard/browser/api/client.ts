import { type Query, searchOf } from '../state/route.js';
import { fetchWhole, SILENCE_SECONDS, SilentServer } from './fetch-whole.js';
import { openIdempotencyKeys } from './idempotency-keys.js';

/** An answer that is not a success, or none. `message` is a sentence for the merchant. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number;

  constructor(status: number, code: string, message: string, retryAfterSeconds = 1) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface Api {
  get<T>(path: string, query?: Query): Promise<T>;
  /** Makes an object of a list. `meaning` is the merchant's request, when `body` has a time that passes meanwhile. */
  create<T>(path: string, body: object, meaning?: object): Promise<T>;
  /** Changes an object, or acts on it. */
  change<T>(path: string, body?: object): Promise<T>;
  remove(path: string): Promise<void>;
  /** A list as CSV. */
  csv(path: string, query: Query): Promise<Blob>;
  /** Leaves every request without an answer from now on: another account may sign in to this tab. */
  end(): void;
}

const READ_ONLY = 'This key can only read. Sign in with a key that has full access to change something here.';
const UNREACHABLE = 'The service cannot be reached.';
const SILENT = `The service has not answered for ${SILENCE_SECONDS} seconds.`;
const CHECK_CONNECTION = 'Check your connection, or try again later.';
/** A request can arrive whose answer is lost. The minute is shorter than the time for which the key of a POST is kept. */
const MAY_BE_DONE =
  'It may have done what you asked for, or still do it: look first. Within a minute the same button does nothing twice.';

const TOO_MANY = 429;

/** Refusals that concern the whole page. */
interface Refusals {
  /** The key was deleted, has expired, or never existed. */
  onUnknownKey(): void;
  onReadOnlyKey(): void;
}

/**
 * Calls /v1 with the merchant's key, on this origin only. A POST that got no answer is sent again under its first
 * Idempotency-Key, so that a second click never makes a second refund.
 */
export function createApi(key: string, refusals: Refusals): Api {
  const idempotencyKeys = openIdempotencyKeys();
  let isOver = false;

  async function send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${key}`);
    const options: RequestInit = { cache: 'no-store', credentials: 'omit', redirect: 'error' };
    const fetched = fetchWhole(path, { ...options, ...init, method, headers });
    const [result] = await Promise.allSettled([fetched]);
    if (isOver) await new Promise(() => {});
    if (result.status === 'rejected') throw lostAnswer(method, result.reason);
    const answer = result.value;
    if (answer.ok) return answer;
    const error = await refusalOf(answer);
    if (error.status === 401) refusals.onUnknownKey();
    if (error.code === 'key_read_only') refusals.onReadOnlyKey();
    throw error;
  }

  async function post<T>(path: string, body: object, meaning = body): Promise<T> {
    const name = JSON.stringify(meaning);
    const { key: idempotencyKey, body: text } = idempotencyKeys.keyFor(path, name, JSON.stringify(body));
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    try {
      const read = await readJson<T>('POST', await send('POST', path, { headers, body: text }));
      idempotencyKeys.forget(path, name);
      return read;
    } catch (error) {
      if (error instanceof ApiError && isRefusal(error)) idempotencyKeys.forget(path, name);
      else idempotencyKeys.keepUnanswered(path, name);
      throw error;
    }
  }

  return {
    get: async (path, query = {}) => await readJson('GET', await send('GET', path + searchOf(query))),
    create: post,
    async change<T>(path: string, body: object = {}) {
      const changed = await post<T>(path, body);
      idempotencyKeys.forgetRelated(path);
      return changed;
    },
    async remove(path) {
      await send('DELETE', path);
      idempotencyKeys.forgetRelated(path);
    },
    async csv(path, query) {
      const answer = await send('GET', path + searchOf(query), { headers: { Accept: 'text/csv' } });
      return await answer.blob();
    },
    end() {
      isOver = true;
    },
  };
}

/** A limit is asked before the answers that are kept: it does not tell whether an earlier try was done. */
function isRefusal({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && status !== TOO_MANY;
}

async function readJson<T>(method: string, answer: Response): Promise<T> {
  return await answer.json().catch((error) => {
    throw lostAnswer(method, error);
  });
}

function lostAnswer(method: string, error: unknown): ApiError {
  const happened = error instanceof SilentServer ? SILENT : UNREACHABLE;
  const advice = method === 'GET' ? CHECK_CONNECTION : MAY_BE_DONE;
  return new ApiError(0, 'unreachable', `${happened} ${advice}`);
}

async function refusalOf(answer: Response): Promise<ApiError> {
  const { status } = answer;
  const retryAfter = Number(answer.headers.get('Retry-After') ?? 1) || 1;
  const { code, message }: { code?: string; message?: string } = await answer.json().then(
    ({ error }) => error ?? {},
    () => ({}),
  );
  const words = code === 'key_read_only' ? READ_ONLY : message;
  return new ApiError(status, code ?? '', words ?? `The service answered ${status}. Try again.`, retryAfter);
}
