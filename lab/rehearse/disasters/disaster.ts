import type { Deployment } from '../deployment/deployment.js';

/** A fault of the deployment during sales, which an operator must hear of. */
export interface Disaster {
  name: string;
  signs: readonly Sign[];
  /** No request may be lost meanwhile. */
  unnoticed: boolean;
  /** False when its alerts go on after its end. True by default. */
  isOverAtOnce?: boolean;
  /** Left out by `--short`. */
  isLong?: boolean;
  /** Returns what ends it. */
  strike(deployment: Deployment): Promise<() => Promise<void>>;
  /** The operator's work after it was heard of. Returns what that work failed to do. */
  answer?(deployment: Deployment): Promise<string[]>;
}

/** A line in the log of a process, a word in the answer of `/readyz`, or an alert of which Alertmanager notifies. */
export type Sign = { line: string } | { readyz: string } | { alert: string };

export function nameOf(sign: Sign): string {
  if ('line' in sign) return sign.line;
  return 'readyz' in sign ? `/readyz ${sign.readyz}` : sign.alert;
}
