type Part = { stop(): unknown } | { close(): unknown };

/** Everything that a program has started. It is stopped in reverse order. */
export class Parts {
  readonly #all: Part[] = [];
  #isStopped = false;

  /** Call it at once with each started part. */
  readonly keep = <T extends Part>(part: T): T => {
    if (this.#isStopped) void stop(part);
    else this.#all.push(part);
    return part;
  };

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const part of this.#all.reverse().splice(0)) await stop(part);
  }
}

async function stop(part: Part): Promise<void> {
  await ('stop' in part ? part.stop() : part.close());
}

/** Runs a program that leaves no process behind, at its end or after Ctrl-C or SIGTERM. */
export async function withParts<T>(run: (parts: Parts) => Promise<T>): Promise<T> {
  const parts = new Parts();
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isInterrupted = true;
      void parts.stop().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  try {
    return await run(parts);
  } finally {
    if (isInterrupted) await new Promise(() => undefined); // The signal's handler ends this process.
    await parts.stop();
  }
}
