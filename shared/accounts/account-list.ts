import type { Knex } from '../db/knex.js';
import { type Filter, givenFilters, type Listing, type Page, type PageRequest } from '../db/listing.js';
import { readById, readByIds, readPage } from '../db/page.js';
import type { Sized } from '../db/sized-columns.js';
import { noSuch } from '../errors/refusal.js';
import { isKeyActive, type Principal, requireActiveKey } from './api-keys.js';

type List<T> = Pick<Listing<T>, 'name' | 'what' | 'table' | 'alias' | 'select' | 'listed' | 'read'> &
  Partial<Pick<Listing<T>, 'member'>>;

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

export function accountList<T>(list: List<T>): AccountList<T> {
  const { what } = list;
  const listingFor = ({ accountId, livemode, keyId }: Principal): Listing<T> => ({
    member: 'true',
    ...list,
    key: [
      ['account_id', '$1'],
      ['livemode', '$2'],
    ],
    memberValues: [accountId, livemode],
    readable: isKeyActive('$3'),
    readerValues: [keyId],
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
