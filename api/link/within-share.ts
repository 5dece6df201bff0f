import type { LinkedSession } from '../../shared/settlement/read-link.js';
import type { Deps } from '../deps/deps.js';

/** For what follows the read of a session: its merchant's share of the connections. */
export function withinShare(deps: Deps, { accountId }: Pick<LinkedSession, 'accountId'>): Deps {
  return { ...deps, db: deps.connections.of(accountId) };
}
