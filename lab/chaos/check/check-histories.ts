import { judgeHistory } from '../../world/history/judge-history.js';
import type { Evidence } from './evidence.js';

/** The history of each payment fits the rows of the policy. */
export function checkHistories({ histories }: Pick<Evidence, 'histories'>): string[] {
  return histories.flatMap(judgeHistory);
}
