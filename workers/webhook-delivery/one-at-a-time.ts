export interface OneAtATime {
  run(key: string): Promise<void>;
  /** When all that runs now has ended, well or badly. */
  ended(): Promise<void>;
}

/** Does a key's work once at a time; whoever asks for it meanwhile has it done again. */
export function oneAtATime(work: (key: string) => Promise<void>): OneAtATime {
  /** True when somebody asked meanwhile. */
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
