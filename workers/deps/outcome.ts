/** `again` is not a failure: the job is delayed until `at` and uses no attempt. */
export type Outcome = { kind: 'done' } | { kind: 'again'; at: Date };

export const done: Outcome = { kind: 'done' };

export function again(at: Date): Outcome {
  return { kind: 'again', at };
}
