interface OneAtATime {
  run(key: string): Promise<void>;
  /** Resolves when all work that runs now has succeeded or failed. */
  ended(): Promise<void>;
}

/** Runs the work of each key one at a time. A call for a key that is running makes its work run once more. */
export function oneAtATime(work: (key: string) => Promise<void>): OneAtATime {
  /** The running keys; true when the key was requested again meanwhile. */
  const isRequestedAgain = new Map<string, boolean>();
  const running = new Set<Promise<void>>();

  async function runWhileRequested(key: string): Promise<void> {
    try {
      do {
        isRequestedAgain.set(key, false);
        await work(key);
      } while (isRequestedAgain.get(key));
    } finally {
      isRequestedAgain.delete(key);
    }
  }

  return {
    async run(key) {
      if (isRequestedAgain.has(key)) {
        isRequestedAgain.set(key, true);
        return;
      }
      const run = runWhileRequested(key).finally(() => running.delete(run));
      running.add(run);
      await run;
    },
    async ended() {
      await Promise.allSettled(running);
    },
  };
}
