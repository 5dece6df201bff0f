import { useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/client.js';
import { asApiError } from '../api/use-read.js';

export interface Action {
  /** Its button is `aria-disabled` meanwhile: a `disabled` one would lose the focus, and a keyboard its place. */
  isBusy: boolean;
  error: ApiError | undefined;
  /** Does the work unless it is being done; false when it failed. */
  run(work: () => Promise<void>): Promise<boolean>;
}

/** An action of the merchant: runs once at a time; its refusal is kept, to be shown beside it. */
export function useAction(): Action {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  // A second click comes before the next render.
  const isRunning = useRef(false);
  return {
    isBusy,
    error,
    async run(work) {
      if (isRunning.current) return false;
      isRunning.current = true;
      setIsBusy(true);
      setError(undefined);
      try {
        await work();
        return true;
      } catch (caught) {
        setError(asApiError(caught));
        return false;
      } finally {
        isRunning.current = false;
        setIsBusy(false);
      }
    },
  };
}
