import type { LinkedPayable } from '../../../shared/settlement/read-link.js';
import type { Deps } from '../../deps/deps.js';

/** The dependencies for everything after the read of a session: connections come from its merchant's share. */
export function withinShare(deps: Deps, { accountId }: Pick<LinkedPayable, 'accountId'>): Deps {
  return { ...deps, db: deps.connections.of(accountId) };
}
