import type { Api } from '../api/client.js';
import type { LineItem, List, Payment, Refund, Session } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { useRead } from '../api/use-read.js';
import { ConfirmedButton } from '../parts/dialog.js';
import { Facts } from '../parts/facts.js';
import { count, dollars } from '../parts/format.js';
import { QrCode } from '../parts/qr.js';
import { Screen } from '../parts/screen.js';
import { ReadView } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Badge, Copyable, IdLink, Text, When } from '../parts/texts.js';
import type { Moment } from '../parts/timeline.js';
import { BuyerMayHavePaid, isUncertain } from '../parts/uncertain.js';
import { HistoryView, useHistory } from './history.js';

interface Whole {
  session: Session;
  /** The newest refunds of its payment. */
  refunds: List<Refund>;
  /** A failed payment of an unpaid session, of which nobody knows whether its money has moved. */
  uncertain?: Payment | undefined;
}

const NO_REFUNDS: List<Refund> = { data: [], has_more: false };
/** The newest failed payments of a session that are looked through. */
const FAILED = '20';

async function loadWhole(api: Api, path: string): Promise<Whole> {
  const session = await api.get<Session>(path, { 'expand[]': 'line_items' });
  if (session.payment === null) {
    const filter = { checkout_session: session.id, status: 'failed', limit: FAILED };
    const { data } = await api.get<List<Payment>>('/v1/payments', filter);
    return { session, refunds: NO_REFUNDS, uncertain: data.find(isUncertain) };
  }
  const filter = { payment: session.payment.id, limit: '100' };
  return { session, refunds: await api.get<List<Refund>>('/v1/refunds', filter) };
}

/** One session: its link while it can be paid, and what happened to it. */
export function LinkScreen({ id }: { id: string }) {
  const path = `/v1/checkout/sessions/${encodeURIComponent(id)}`;
  const read = useRead(path, (api) => loadWhole(api, path));
  const history = useHistory(read.data?.session.id);
  return (
    <Screen title="Link">
      <ReadView read={read}>
        {({ session, refunds, uncertain }) => (
          <>
            <section>
              <p class="amount">
                {dollars(session.amount_total)} <Badge status={session.status} />
              </p>
              {uncertain === undefined ? null : <BuyerMayHavePaid payment={uncertain} />}
              {session.status === 'open' && session.url !== null ? <SendIt url={session.url} /> : null}
              {session.status === 'processing' ? <BeingConfirmed /> : null}
              <LinkFacts session={session} />
            </section>
            <Items items={session.line_items?.data ?? []} />
            {session.status === 'open' ? <Expire path={path} reload={read.reload} /> : null}
            <HistoryView
              session={session}
              refunds={refunds}
              history={history}
              more={sessionMoments(session)}
            />
          </>
        )}
      </ReadView>
    </Screen>
  );
}

function SendIt({ url }: { url: string }) {
  return (
    <div class="pay">
      <QrCode text={url} label="QR code of the payment link" />
      <div>
        <p>Send this link to your buyer. People open it, agents pay it over x402.</p>
        <Copyable value={url} label="the payment link" />
      </div>
    </div>
  );
}

function BeingConfirmed() {
  return (
    <p>
      A payment of this link is being confirmed: the money may have moved. Do not ask the buyer to pay again.
      The status here follows by itself.
    </p>
  );
}

function LinkFacts({ session }: { session: Session }) {
  const { payment, metadata } = session;
  return (
    <Facts
      rows={[
        ['Session', <Copyable key="id" value={session.id} label="the session's id" />],
        ['Payment', payment === null ? '–' : <IdLink key="payment" screen="payments" id={payment.id} />],
        ['Order', <Text key="order">{session.client_reference_id}</Text>],
        ['Buyer', <Text key="buyer">{session.customer_email}</Text>],
        ['After paying', <Text key="success">{session.success_url}</Text>],
        ['Created', <When key="created" at={session.created} />],
        [session.status === 'open' ? 'Expires' : 'Expiry', <When key="expires" at={session.expires_at} />],
        ...Object.entries(metadata).map(
          ([name, value]) => [`Metadata: ${name}`, <Text key={name}>{value}</Text>] as const,
        ),
      ]}
    />
  );
}

const ITEM_COLUMNS: readonly Column<LineItem>[] = [
  {
    head: 'Item',
    cell: ({ description, price }) => (
      <>
        <Text>{description}</Text>
        {price.product_data.description === null ? null : (
          <div class="muted">
            <Text>{price.product_data.description}</Text>
          </div>
        )}
      </>
    ),
  },
  { head: 'Quantity', cell: ({ quantity }) => count(quantity), isNumber: true },
  { head: 'Total', cell: ({ amount_total: amount }) => dollars(amount), isNumber: true },
];

function Items({ items }: { items: readonly LineItem[] }) {
  return (
    <section>
      <h2>Items</h2>
      <Table caption="What the buyer pays for" columns={ITEM_COLUMNS} rows={items} keyOf={({ id }) => id} />
    </section>
  );
}

function sessionMoments({ id, status, expires_at: expiresAt, payment }: Session): Moment[] {
  const settledAt = payment?.settled_at ?? null;
  return [
    ...(settledAt === null
      ? []
      : [{ key: `${id} paid`, at: settledAt, title: 'Paid', tone: 'good' as const }]),
    ...(status === 'expired'
      ? [{ key: `${id} expired`, at: expiresAt, title: 'Its time was to end here' }]
      : []),
  ];
}

function Expire({ path, reload }: { path: string; reload(): Promise<void> }) {
  const { api } = useSignedIn();
  return (
    <ConfirmedButton
      label="Expire the link"
      confirm="Expire it"
      isDangerous
      work={async () => {
        await api.change(`${path}/expire`);
        await reload();
        return 'The link is expired. It can no longer be paid.';
      }}
    >
      <p>It can no longer be paid, and this cannot be undone.</p>
    </ConfirmedButton>
  );
}
