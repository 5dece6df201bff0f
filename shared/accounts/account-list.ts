import type { Knex } from '../db/knex.js';
import { type Filter, givenFilters, type Listing, type Page, type PageRequest } from '../db/listing.js';
import { readById, readByIds, readPage } from '../db/page.js';
import type { Sized } from '../db/sized-columns.js';
import { noSuch } from '../errors/refusal.js';
import { isKeyActive, type Principal, requireActiveKey } from './api-keys.js';

type Owned<T> = Omit<Listing<T>, 'within' | 'owned' | 'ownerValues' | 'allowed' | 'values' | 'filters'> & {
  /** A further SQL condition for membership in the list, for cursors too. */
  among?: string;
};

/** A list of an account's objects of one mode, read with a key that must be active. */
export interface AccountList<T> {
  page(
    db: Knex,
    principal: Principal,
    page: PageRequest,
    filters?: readonly Filter[],
  ): Promise<Page<Sized<T>>>;
  /** Objects of any size, in the order of `ids`. */
  byIds(db: Knex, principal: Principal, ids: readonly string[]): Promise<T[]>;
  one(db: Knex, principal: Principal, id: string): Promise<T>;
}

export function accountList<T>({ among = 'true', ...list }: Owned<T>): AccountList<T> {
  const { what } = list;
  const listingFor = ({ accountId, livemode, keyId }: Principal): Listing<T> => ({
    ...list,
    within: [
      ['account_id', '$1'],
      ['livemode', '$2'],
    ],
    owned: among,
    allowed: isKeyActive('$3'),
    values: [accountId, livemode, keyId],
    filters: [],
  });
  return {
    page: async (db, principal, page, filters = []) =>
      await readPage(db, { ...listingFor(principal), filters: givenFilters(filters) }, page, () =>
        requireActiveKey(db, principal),
      ),
    byIds: async (db, principal, ids) =>
      await readByIds(db, listingFor(principal), ids, () => requireActiveKey(db, principal)),
    one: async (db, principal, id) =>
      await readById(db, listingFor(principal), id, async () => {
        await requireActiveKey(db, principal);
        return noSuch(what, id);
      }),
  };
}
