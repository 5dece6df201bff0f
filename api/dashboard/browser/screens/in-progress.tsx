import type { List, Session } from '../api/objects.js';
import { useRead } from '../api/use-read.js';
import { dollars } from '../parts/format.js';
import { Empty, Shown } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Ago, Badge, Id } from '../parts/texts.js';
import { linkTo, type Route } from '../state/route.js';

const COLUMNS: readonly Column<Session>[] = [
  { head: 'Amount', cell: ({ amount_total: amount }) => dollars(amount), isNumber: true },
  {
    head: 'Link',
    cell: ({ id }) => (
      <a href={linkTo(['links', id])}>
        <Id>{id}</Id>
      </a>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Badge status={status} /> },
  { head: 'Created', cell: ({ created }) => <Ago at={created} />, isWide: true },
];

const LOOKED_AT = '100';

/** A payment that is being confirmed is in no list of payments: its session says so. */
export function InProgress({ route }: { route: Route }) {
  const { after } = route.query;
  const read = useRead<List<Session>>(`in progress ${after}`, (api) =>
    api.get('/v1/checkout/sessions', { limit: LOOKED_AT, starting_after: after }),
  );
  return (
    <Shown read={read}>
      {({ data, has_more: hasMore }) => {
        const waiting = data.filter(({ status }) => status === 'processing');
        return (
          <>
            {waiting.length === 0 ? (
              <Empty title={`No payment is being confirmed among ${data.length} links.`}>
                The token, the network and the dates do not narrow this list.
              </Empty>
            ) : (
              <Table
                caption="Links whose payment is being confirmed"
                columns={COLUMNS}
                rows={waiting}
                keyOf={({ id }) => id}
              />
            )}
            {hasMore ? (
              <nav class="pager" aria-label="Pages of the list">
                <a href={linkTo(['payments'], { status: 'processing', after: data.at(-1)?.id })}>
                  Look at older links
                </a>
              </nav>
            ) : null}
          </>
        );
      }}
    </Shown>
  );
}
