import type { ComponentChildren } from 'preact';
import type { List } from '../api/objects.js';
import { type Read, useRead } from '../api/use-read.js';
import { linkTo, type Query, type Route, searchOf } from '../state/route.js';
import { ReadView } from './states.js';
import { type Column, Table } from './table.js';

const PAGE_SIZE = '20';

interface Identified {
  id: string;
}

/** The place in a list is part of the address: `after` and `before` are the ids that /v1 takes as cursors. */
function cursorsOf({ query }: Route): Query {
  return { starting_after: query.after, ending_before: query.before };
}

export function useList<T extends Identified>(path: string, filters: Query, route: Route): Read<List<T>> {
  const query = { ...filters, ...cursorsOf(route), limit: PAGE_SIZE };
  return useRead<List<T>>(path + searchOf(query), (api) => api.get(path, query));
}

interface ListViewProps<T extends Identified> {
  read: Read<List<T>>;
  route: Route;
  caption: string;
  columns: readonly Column<T>[];
  empty: ComponentChildren;
}

/** A page of a list with links to its neighbours. */
export function ListView<T extends Identified>({ read, route, caption, columns, empty }: ListViewProps<T>) {
  return (
    <ReadView read={read}>
      {({ data, has_more: hasMore }) => (
        <>
          {data.length === 0 ? (
            empty
          ) : (
            <Table caption={caption} columns={columns} rows={data} keyOf={({ id }) => id} />
          )}
          <Pager route={route} data={data} hasMore={hasMore} />
        </>
      )}
    </ReadView>
  );
}

interface PagerProps {
  route: Route;
  data: readonly Identified[];
  hasMore: boolean;
}

/** `hasMore` is about the direction of travel; where a page was come from, there is more. */
function Pager({ route, data, hasMore }: PagerProps) {
  const { screen, rest, query } = route;
  const { after, before, ...filters } = query;
  const at = (cursor: Query): string => linkTo([screen, ...rest], { ...filters, ...cursor });
  const hasOlder = before === undefined ? hasMore : data.length > 0;
  const hasNewer = before === undefined ? after !== undefined : hasMore;
  if (!hasOlder && !hasNewer && after === undefined && before === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      {after === undefined && before === undefined ? null : <a href={at({})}>Newest</a>}
      {hasNewer && data[0] !== undefined ? <a href={at({ before: data[0].id })}>Newer</a> : null}
      {hasOlder ? <a href={at({ after: data.at(-1)?.id })}>Older</a> : null}
    </nav>
  );
}
