export interface OneAtATime {
  run(key: string): Promise<void>;
  /** Resolves when all work that runs now has ended, in success or failure. */
  ended(): Promise<void>;
}

/** Runs a key's work one at a time. A request for a key that is running makes its work run once more. */
export function oneAtATime(work: (key: string) => Promise<void>): OneAtATime {
  /** By running key; true when it was asked for again meanwhile. */
  const isAskedAgain = new Map<string, boolean>();
  const running = new Set<Promise<void>>();

  async function runWhileAsked(key: string): Promise<void> {
    try {
      do {
        isAskedAgain.set(key, false);
        await work(key);
      } while (isAskedAgain.get(key));
    } finally {
      isAskedAgain.delete(key);
    }
  }

  return {
    async run(key) {
      if (isAskedAgain.has(key)) {
        isAskedAgain.set(key, true);
        return;
      }
      const run = runWhileAsked(key).finally(() => running.delete(run));
      running.add(run);
      await run;
    },
    async ended() {
      await Promise.allSettled(running);
    },
  };
}
