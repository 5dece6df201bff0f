import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/client.js';
import { asApiError } from '../api/use-read.js';
import { notify } from './notices.js';

interface Action {
  /** Its button is `aria-disabled` meanwhile: a `disabled` one would lose the focus, and a keyboard its place. */
  isBusy: boolean;
  error: ApiError | undefined;
  /** Does the work unless it is being done; false when it failed. */
  run(work: () => Promise<void>): Promise<boolean>;
}

/**
 * An action of the merchant: runs once at a time; its refusal is kept, to be shown beside it. A notice says the refusal when its
 * form, dialog or screen is gone by then.
 */
export function useAction(): Action {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  // A second click comes before the next render.
  const isRunning = useRef(false);
  const isGone = useRef(false);
  // An effect after the painting may not have run yet when the form goes.
  useLayoutEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
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
        const refusal = asApiError(caught);
        setError(refusal);
        if (isGone.current) notify(refusal.message);
        return false;
      } finally {
        isRunning.current = false;
        setIsBusy(false);
      }
    },
  };
}

/** Acts once on a double click: its second press may come after a quick answer, to the button that undoes the first. */
export function onPress(act: () => Promise<unknown>): (press: { detail: number }) => void {
  return ({ detail }) => {
    if (detail <= 1) void act();
  };
}
