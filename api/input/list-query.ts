import { type Static, Type } from 'typebox';
import type { PageRequest } from '../../shared/db/listing.js';
import { Refusal } from '../../shared/errors/refusal.js';
import { soughtId } from '../../shared/values/ids.js';

const DEFAULT_LIMIT = 10;

export const ListParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'How many objects a page holds. Default 10.' }),
  ),
  starting_after: Type.Optional(
    Type.String({
      description: 'The id of the last object of the previous page: older objects follow.',
    }),
  ),
  ending_before: Type.Optional(
    Type.String({
      description: 'The id of the first object of the previous page: newer objects come.',
    }),
  ),
};

type ListQuery = Static<ReturnType<typeof Type.Object<typeof ListParameters>>>;

export function pageRequest(query: ListQuery, defaultLimit: number | undefined = DEFAULT_LIMIT): PageRequest {
  if (query.starting_after !== undefined && query.ending_before !== undefined) {
    throw new Refusal('parameters_exclusive', 'Send starting_after or ending_before, not both.', {
      param: 'ending_before',
    });
  }
  return {
    limit: query.limit ?? defaultLimit,
    startingAfter: cursor(query.starting_after),
    endingBefore: cursor(query.ending_before),
  };
}

function cursor(id: string | undefined): string | undefined {
  return id === undefined ? undefined : soughtId(id);
}

/** Returns the page request of a short list: the whole list, unless a `limit` is sent. */
export function wholePageRequest(query: ListQuery): PageRequest {
  return { ...pageRequest(query), limit: query.limit };
}
