/** A mistake on the command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Exits with the status of `main`. A mistake on the command line is answered with the usage. */
export async function runMain(usage: string, main: () => Promise<number>): Promise<never> {
  try {
    process.exit(await main());
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n${usage}`);
    process.exit(1);
  }
}

/** `parseArgs` throws a TypeError for an unknown option. */
export function asUsage<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

export function readNumber(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (Number.isFinite(number) && number > 0) return number;
  throw new UsageError(`--${name} must be a number above 0; you said ${value}.`);
}

export function readWholeNumber(name: string, value: string | undefined, otherwise: number): number {
  const number = readNumber(name, value, otherwise);
  if (Number.isInteger(number)) return number;
  throw new UsageError(`--${name} must be a whole number above 0; you said ${value}.`);
}
