/** `again` is not a failure: the job is delayed until `at` and uses no attempt. */
export type JobOutcome = { kind: 'done' } | { kind: 'again'; at: Date };

export const done: JobOutcome = { kind: 'done' };

export function again(at: Date): JobOutcome {
  return { kind: 'again', at };
}
