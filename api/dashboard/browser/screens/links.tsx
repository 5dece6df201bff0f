import type { Session } from '../api/objects.js';
import { Choice } from '../parts/field.js';
import { dollars } from '../parts/format.js';
import { ListView, useList } from '../parts/list.js';
import { Screen } from '../parts/screen.js';
import { Empty } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Badge, IdLink, Text, When } from '../parts/texts.js';
import { goTo, linkTo, type Route } from '../state/route.js';
import { LinkScreen } from './link.js';
import { NewLink } from './new-link.js';

export const LINK_COLUMNS: readonly Column<Session>[] = [
  { head: 'Amount', cell: ({ amount_total: amount }) => dollars(amount), isNumber: true },
  {
    head: 'Link',
    cell: ({ id }) => <IdLink screen="links" id={id} />,
  },
  { head: 'Status', cell: ({ status }) => <Badge status={status} /> },
  { head: 'Order', cell: (session) => <Text>{session.client_reference_id}</Text>, isWide: true },
  { head: 'Buyer', cell: (session) => <Text>{session.customer_email}</Text>, isWide: true },
  { head: 'Created', cell: ({ created }) => <When at={created} />, isWide: true },
];
const STATUSES = [
  ['', 'All'],
  ['open', 'Open'],
  ['complete', 'Paid'],
  ['expired', 'Expired'],
] as const;

export function LinksScreen({ route }: { route: Route }) {
  const [id] = route.rest;
  if (id === 'new') return <NewLink />;
  return id === undefined ? <AllLinks route={route} /> : <LinkScreen key={id} id={id} />;
}

function AllLinks({ route }: { route: Route }) {
  const { status } = route.query;
  const read = useList<Session>('/v1/checkout/sessions', { status }, route);
  return (
    <Screen
      title="Links"
      actions={
        <a class="button primary" href={linkTo(['links', 'new'])}>
          Create a link
        </a>
      }
    >
      <div class="filters">
        <Choice
          label="Status"
          value={status ?? ''}
          onValue={(value) => goTo(linkTo(['links'], { status: value }))}
          options={STATUSES}
        />
      </div>
      <ListView
        read={read}
        route={route}
        caption="Payment links, newest first"
        columns={LINK_COLUMNS}
        empty={
          <Empty title={status ? 'No link has this status.' : 'No links yet.'}>
            <a href={linkTo(['links', 'new'])}>Create a payment link</a> and send it to a buyer, person or
            agent.
          </Empty>
        }
      />
    </Screen>
  );
}
