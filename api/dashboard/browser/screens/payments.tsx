import { NETWORKS, TOKEN_SYMBOLS } from '../../../../shared/chains/networks/networks.js';
import type { Payment } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { DownloadCsv } from '../parts/download-csv.js';
import { Choice, DateField } from '../parts/field.js';
import { dollars } from '../parts/format.js';
import { ListView, useList } from '../parts/list.js';
import { Screen } from '../parts/screen.js';
import { Empty } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Id, IdLink, When } from '../parts/texts.js';
import { PaymentBadge } from '../parts/uncertain.js';
import { goTo, linkTo, type Query, type Route, replaceAddress } from '../state/route.js';
import { createdBetween } from './dates.js';
import { PaymentScreen } from './payment.js';

export const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { head: 'Amount', cell: ({ amount }) => dollars(amount), isNumber: true },
  { head: 'Payment', cell: ({ id }) => <IdLink screen="payments" id={id} /> },
  { head: 'Paid in', cell: (payment) => <PaidIn payment={payment} /> },
  { head: 'Payer', cell: ({ payer }) => (payer ? <Id>{payer}</Id> : '–'), isWide: true },
  { head: 'Status', cell: (payment) => <PaymentBadge payment={payment} />, isWide: true },
  { head: 'Settled', cell: (payment) => <When at={payment.settled_at} />, isWide: true },
];

function PaidIn({ payment }: { payment: Payment }) {
  return (
    <>
      {payment.token} on {payment.network_name}
      <div class="muted narrow">
        {payment.status === 'failed' ? <PaymentBadge payment={payment} /> : <When at={payment.settled_at} />}
      </div>
    </>
  );
}

export function PaymentsScreen({ route }: { route: Route }) {
  const [id] = route.rest;
  return id === undefined ? <AllPayments route={route} /> : <PaymentScreen key={id} id={id} route={route} />;
}

/** The filters of /v1/payments that the address names. */
function filtersOf({ query }: Route): Query {
  const { status, token, network, from, to } = query;
  return { status, token, network, ...createdBetween(from, to) };
}

function AllPayments({ route }: { route: Route }) {
  const filters = filtersOf(route);
  const read = useList<Payment>('/v1/payments', filters, route);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Screen title="Payments" actions={<DownloadCsv path="/v1/payments" query={filters} name="payments" />}>
      <Filters route={route} />
      <ListView
        read={read}
        route={route}
        caption="Payments, newest first"
        columns={PAYMENT_COLUMNS}
        empty={
          isFiltered ? (
            <Empty title="No payment fits these filters.">
              <a href={linkTo(['payments'])}>Show all succeeded payments</a>
            </Empty>
          ) : (
            <Empty title="No payments yet.">
              <a href={linkTo(['links', 'new'])}>Create a payment link</a> and send it to a buyer; the payment
              appears here by itself.
            </Empty>
          )
        }
      />
    </Screen>
  );
}

function Filters({ route }: { route: Route }) {
  const { livemode } = useSignedIn();
  const { query } = route;
  const { after: _after, before: _before, ...kept } = query;
  const at = (name: string, value: string): string => linkTo(['payments'], { ...kept, [name]: value });
  const set = (name: string) => (value: string) => goTo(at(name, value));
  // While a year is typed, each digit makes a date.
  const setDate = (name: string) => (value: string) => replaceAddress(at(name, value));
  const networks = NETWORKS.filter(({ testnet }) => testnet !== livemode);
  return (
    <fieldset class="filters">
      <legend class="visually-hidden">Filters</legend>
      <DateField label="From" value={query.from ?? ''} onValue={setDate('from')} />
      <DateField label="To" value={query.to ?? ''} onValue={setDate('to')} />
      <Choice
        label="Token"
        value={query.token ?? ''}
        onValue={set('token')}
        options={[['', 'All'], ...TOKEN_SYMBOLS.map((token) => [token, token] as const)]}
      />
      <Choice
        label="Network"
        value={query.network ?? ''}
        onValue={set('network')}
        options={[['', 'All'], ...networks.map(({ caip2, name }) => [caip2, name] as const)]}
      />
      <Choice
        label="Status"
        value={query.status ?? ''}
        onValue={set('status')}
        options={[
          ['', 'Succeeded'],
          ['processing', 'Being confirmed'],
          ['failed', 'Failed'],
        ]}
      />
    </fieldset>
  );
}
