import assert from 'node:assert/strict';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';

export async function assertFound(
  kind: 'unreadable' | 'used' | 'searching',
  finding: Promise<ChainFinding>,
  reason: RegExp,
): Promise<void> {
  const found = await finding;
  assert.equal(found.kind, kind);
  assert.match('reason' in found ? found.reason : '', reason);
}

export const assertUnreadable = (finding: Promise<ChainFinding>, reason: RegExp): Promise<void> =>
  assertFound('unreadable', finding, reason);
