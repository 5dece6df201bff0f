/** How a job ends. "Again" is not a failure: the job waits for that time and spends nothing. */
export type Outcome = { kind: 'done' } | { kind: 'again'; at: Date };

export const done: Outcome = { kind: 'done' };

export function again(at: Date): Outcome {
  return { kind: 'again', at };
}
