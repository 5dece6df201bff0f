import { useEffect } from 'preact/hooks';
import { looksLikeTransaction, looksLikeWallet } from '../../../../shared/chains/networks/text-forms.js';
import { type Api, ApiError } from '../api/client.js';
import type { List, Payment, Session } from '../api/objects.js';
import { useRead } from '../api/use-read.js';
import { Screen } from '../parts/screen.js';
import { Empty, ReadView } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { linkTo, type Query, type Route, replaceAddress } from '../state/route.js';
import { LINK_COLUMNS } from './links.js';
import { PAYMENT_COLUMNS } from './payments.js';

/** The screens of ids, by their prefix. */
const PLACES: readonly [prefix: string, place: readonly string[]][] = [
  ['cs_', ['links']],
  ['pay_', ['payments']],
  ['re_', ['refunds']],
  ['evt_', ['webhooks', 'events']],
  ['we_', ['webhooks']],
];
const PAYMENTS = '/v1/payments';
const SESSIONS = '/v1/checkout/sessions';
/** The most objects that a list of /v1 answers at once. */
const LIMIT = '100';
const REFUSED = 400;

const NONE: List<never> = { data: [], has_more: false };

interface Found {
  payments: List<Payment>;
  sessions: List<Session>;
}

interface LookUp {
  list: typeof PAYMENTS | typeof SESSIONS;
  /** The list is read once with each filter, and the objects of all these readings are shown. */
  filters: readonly Query[];
}

/** The lists that can hold a text, by its form. The later ones are asked when the earlier ones have nothing. */
function lookUpsOf(text: string): readonly LookUp[] {
  const order: LookUp = { list: SESSIONS, filters: [{ client_reference_id: text }] };
  if (text.includes('@')) return [{ list: SESSIONS, filters: [{ customer_email: text }] }, order];
  // The list holds payments of one status, and succeeded ones unless the query names another.
  const inPayments = (name: string): LookUp => ({
    list: PAYMENTS,
    filters: ['processing', 'succeeded', 'failed'].map((status) => ({ [name]: text, status })),
  });
  if (looksLikeTransaction(text)) return [inPayments('transaction'), order];
  return looksLikeWallet(text) ? [inPayments('payer'), order] : [order, inPayments('transaction')];
}

async function search(api: Api, text: string): Promise<Found> {
  const found: Found = { payments: NONE, sessions: NONE };
  for (const { list, filters } of lookUpsOf(text)) {
    if (list === PAYMENTS) found.payments = await matches<Payment>(api, list, filters);
    else found.sessions = await matches<Session>(api, list, filters);
    if (found.payments.data.length + found.sessions.data.length > 0) break;
  }
  return found;
}

/** A text that a filter refuses, for example as too long, is in none of its objects. */
async function matches<T>(api: Api, list: string, filters: readonly Query[]): Promise<List<T>> {
  try {
    const read = filters.map((filter) => api.get<List<T>>(list, { ...filter, limit: LIMIT }));
    const pages = await Promise.all(read);
    return { data: pages.flatMap(({ data }) => data), has_more: pages.some(({ has_more }) => has_more) };
  } catch (error) {
    if (error instanceof ApiError && error.status === REFUSED) return NONE;
    throw error;
  }
}

/** The screen of an id: ids of other kinds are texts like any other. */
function placeOf(text: string): string | undefined {
  const place = PLACES.find(([prefix]) => text.startsWith(prefix) && /^\w+$/.test(text));
  return place === undefined ? undefined : linkTo([...place[1], text]);
}

/** Goes on without leaving the search in the history, where the way back would lead forward again. */
function useGoOn(address: string | undefined): void {
  useEffect(() => {
    if (address !== undefined) replaceAddress(address);
  }, [address]);
}

export function SearchScreen({ route }: { route: Route }) {
  const text = (route.query.q ?? '').trim();
  const place = placeOf(text);
  useGoOn(place);
  return <Screen title="Search">{place === undefined ? <Results key={text} text={text} /> : null}</Screen>;
}

function Results({ text }: { text: string }) {
  const read = useRead(`search ${text}`, async (api) => {
    if (text === '')
      throw new ApiError(400, 'empty', 'Type an id, a transaction, a wallet, an order number or an e-mail.');
    return await search(api, text);
  });
  const { payments, sessions } = read.data ?? { payments: NONE, sessions: NONE };
  const hasMore = payments.has_more || sessions.has_more;
  const isOne = payments.data.length + sessions.data.length === 1;
  const [payment] = payments.data;
  const [session] = sessions.data;
  const only = payment ? linkTo(['payments', payment.id]) : session && linkTo(['links', session.id]);
  useGoOn(isOne ? only : undefined);
  return (
    <ReadView read={read}>
      {() => (
        <>
          {payments.data.length + sessions.data.length === 0 ? (
            <Empty title="Nothing was found.">
              The search is exact: check that the text is complete, and that it belongs to the data of this
              key.
            </Empty>
          ) : null}
          {payments.data.length > 0 ? (
            <Table
              caption="Payments found"
              columns={PAYMENT_COLUMNS}
              rows={payments.data}
              keyOf={({ id }) => id}
            />
          ) : null}
          {sessions.data.length > 0 ? (
            <Table caption="Links found" columns={LINK_COLUMNS} rows={sessions.data} keyOf={({ id }) => id} />
          ) : null}
          {hasMore ? <p>More were found: only the newest are shown.</p> : null}
        </>
      )}
    </ReadView>
  );
}
