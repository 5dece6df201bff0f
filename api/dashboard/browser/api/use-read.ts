import { useEffect, useRef, useState } from 'preact/hooks';
import { type Api, ApiError } from './client.js';
import { useSignedIn } from './signed-in.js';

/** The state of a read: neither data nor error while it is under way. Both when data was read before an error. */
export interface Read<T> {
  data: T | undefined;
  error: ApiError | undefined;
  reload(): Promise<void>;
}

const POLL_MS = 5000;
/** A merchant who is not looking needs nothing new. */
const isHidden = (): boolean => document.hidden;

/**
 * Reads `load` at once, and again every few seconds while the page is visible. `name` identifies the data: data of another
 * name is never shown in its place.
 */
export function useRead<T>(name: string, load: (api: Api) => Promise<T>, everyMs = POLL_MS): Read<T> {
  const { api } = useSignedIn();
  const [state, setState] = useState<{ name: string; data?: T; error?: ApiError }>({ name });
  const latest = useRef(load);
  latest.current = load;
  const read = useRef<() => Promise<void>>(async () => {});

  useEffect(() => {
    let isOver = false;
    let turn = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;

    /** An answer that was overtaken by a later one is dropped. */
    async function readOnce(): Promise<void> {
      turn += 1;
      const own = turn;
      clearTimeout(timer);
      const result = await latest.current(api).then(
        (data) => ({ data }),
        (error: unknown) => ({ error: asApiError(error) }),
      );
      if (isOver || own !== turn) return;
      setState((before) => ({
        ...(before.name === name && 'error' in result ? before : {}),
        name,
        ...result,
      }));
      const isFinal = 'error' in result && result.error.status >= 400 && result.error.status < 429;
      if (!isFinal && !isHidden()) timer = setTimeout(() => void readOnce(), everyMs);
    }

    function followVisibility(): void {
      clearTimeout(timer);
      if (!isHidden()) void readOnce();
    }

    read.current = readOnce;
    void readOnce();
    document.addEventListener('visibilitychange', followVisibility);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', followVisibility);
    };
  }, [api, name, everyMs]);

  const isCurrent = state.name === name;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => read.current(),
  };
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, 'unexpected', error instanceof Error ? error.message : String(error));
}
