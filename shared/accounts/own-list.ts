import type { Knex } from '../db/knex.js';
import { type Filter, givenFilters, type Listing, type Page, type PageRequest } from '../db/listing.js';
import { readById, readByIds, readPage } from '../db/page.js';
import type { Weighed } from '../db/weighed-columns.js';
import { noSuch } from '../errors/refusal.js';
import { keyCounts, type Principal, requireKeyThatCounts } from './api-keys.js';

type Owned<T> = Omit<Listing<T>, 'owned' | 'ownerValues' | 'allowed' | 'values' | 'filters'> & {
  /** What else makes an object one of the list, so that a cursor may name it. */
  among?: string;
};

/** What an account owns in one mode, read by a key that must still count. */
export interface OwnList<T> {
  page(
    db: Knex,
    principal: Principal,
    page: PageRequest,
    filters?: readonly Filter[],
  ): Promise<Page<Weighed<T>>>;
  /** Whole, however heavy, in the order of these ids. */
  byIds(db: Knex, principal: Principal, ids: readonly string[]): Promise<T[]>;
  one(db: Knex, principal: Principal, id: string): Promise<T>;
}

export function ownList<T>({ among = 'true', ...list }: Owned<T>): OwnList<T> {
  const { alias, what } = list;
  const owned = `${alias}.account_id = $1 AND ${alias}.livemode = $2 AND ${among}`;
  const of = ({ accountId, livemode, keyId }: Principal): Listing<T> => ({
    ...list,
    owned,
    allowed: keyCounts('$3'),
    values: [accountId, livemode, keyId],
    filters: [],
  });
  return {
    page: async (db, principal, page, filters = []) =>
      await readPage(db, { ...of(principal), filters: givenFilters(filters) }, page, () =>
        requireKeyThatCounts(db, principal),
      ),
    byIds: async (db, principal, ids) =>
      await readByIds(db, of(principal), ids, () => requireKeyThatCounts(db, principal)),
    one: async (db, principal, id) =>
      await readById(db, of(principal), id, async () => {
        await requireKeyThatCounts(db, principal);
        return noSuch(what, id);
      }),
  };
}
