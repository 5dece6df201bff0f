import { useState } from 'preact/hooks';
import type { Refund } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { useRead } from '../api/use-read.js';
import { ConfirmedButton } from '../parts/dialog.js';
import { DownloadCsv } from '../parts/download-csv.js';
import { explorerFact, Facts } from '../parts/facts.js';
import { Choice, Field, Form } from '../parts/field.js';
import { dollars, tokens } from '../parts/format.js';
import { ListView, useList } from '../parts/list.js';
import { QrCode } from '../parts/qr.js';
import { Screen } from '../parts/screen.js';
import { Empty, ReadView } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Copyable, IdLink, Text, When } from '../parts/texts.js';
import { isUncertain, RefundBadge, RefundMayBePaid } from '../parts/uncertain.js';
import { goTo, linkTo, type Route } from '../state/route.js';

const COLUMNS: readonly Column<Refund>[] = [
  { head: 'Amount', cell: ({ amount }) => dollars(amount), isNumber: true },
  {
    head: 'Refund',
    cell: ({ id }) => <IdLink screen="refunds" id={id} />,
  },
  { head: 'Status', cell: (refund) => <RefundBadge refund={refund} /> },
  { head: 'Token', cell: (refund) => `${refund.token} on ${refund.network_name}`, isWide: true },
  { head: 'Created', cell: ({ created }) => <When at={created} />, isWide: true },
];
const STATUSES = [
  ['', 'All'],
  ['requires_action', 'Waits for your signature'],
  ['pending', 'Being confirmed'],
  ['succeeded', 'Succeeded'],
  ['canceled', 'Canceled'],
] as const;

export function RefundsScreen({ route }: { route: Route }) {
  const [id] = route.rest;
  return id === undefined ? <AllRefunds route={route} /> : <RefundScreen key={id} id={id} />;
}

function AllRefunds({ route }: { route: Route }) {
  const { status, payment } = route.query;
  const filters = { status, payment };
  const read = useList<Refund>('/v1/refunds', filters, route);
  return (
    <Screen title="Refunds" actions={<DownloadCsv path="/v1/refunds" query={filters} name="refunds" />}>
      <FindPayment />
      <div class="filters">
        <Choice
          label="Status"
          value={status ?? ''}
          onValue={(value) => goTo(linkTo(['refunds'], { status: value, payment }))}
          options={STATUSES}
        />
      </div>
      <ListView
        read={read}
        route={route}
        caption="Refunds, newest first"
        columns={COLUMNS}
        empty={
          <Empty title="No refunds here.">
            Open the <a href={linkTo(['payments'])}>payment</a> that you want to give back, and choose Refund.
          </Empty>
        }
      />
    </Screen>
  );
}

/** A refund begins at its payment. */
function FindPayment() {
  const { isReadOnly } = useSignedIn();
  const [payment, setPayment] = useState('');
  return (
    <Form
      label="Refund a payment"
      class="form inline"
      onSend={() => goTo(linkTo(['payments', payment.trim()], { refund: 'true' }))}
    >
      <Field label="Payment to refund" value={payment} onValue={setPayment} isRequired hint="Its id, pay_…" />
      <button type="submit" disabled={isReadOnly}>
        Go to the refund
      </button>
    </Form>
  );
}

function RefundScreen({ id }: { id: string }) {
  const path = `/v1/refunds/${encodeURIComponent(id)}`;
  const read = useRead<Refund>(path, (api) => api.get(path));
  return (
    <Screen title="Refund">
      <ReadView read={read}>
        {(refund) => (
          <>
            <section>
              <p class="amount">
                {dollars(refund.amount)} <RefundBadge refund={refund} />
              </p>
              {isUncertain(refund) ? <RefundMayBePaid /> : null}
              {refund.url === null ? null : <SignIt url={refund.url} refund={refund} />}
              <RefundFacts refund={refund} />
            </section>
            {refund.status === 'requires_action' ? (
              <Cancel path={path} refund={refund} reload={read.reload} />
            ) : null}
          </>
        )}
      </ReadView>
    </Screen>
  );
}

function SignIt({ url, refund: { status } }: { url: string; refund: Refund }) {
  return (
    <div class="pay">
      <QrCode text={url} label="QR code of the refund's link" />
      <div>
        <p>
          {status === 'pending'
            ? 'Your payment of it is being confirmed.'
            : 'Open the refund page and sign with a wallet that holds the token. The status here follows by itself.'}
        </p>
        <p>
          <a class="button primary" href={url} target="_blank" rel="noreferrer noopener">
            Open the refund page
          </a>
        </p>
        <Copyable value={url} label="the refund's link" />
      </div>
    </div>
  );
}

function RefundFacts({ refund }: { refund: Refund }) {
  return (
    <Facts
      rows={[
        ['Refund', <Copyable key="id" value={refund.id} label="the refund's id" />],
        [
          'Gives back',
          `${tokens(refund.token_amount, refund.token_decimals)} ${refund.token} on ${refund.network_name}`,
        ],
        ['To', <Text key="to">{refund.pay_to}</Text>],
        ['Reason', refund.reason?.replaceAll('_', ' ') ?? '–'],
        ['Payment', <IdLink key="payment" screen="payments" id={refund.payment} />],
        ['Created', <When key="created" at={refund.created} />],
        ['Settled', <When key="settled" at={refund.settled_at} />],
        ['Its link ends', <When key="ends" at={refund.expires_at} />],
        explorerFact(refund.transaction_url),
        refund.failure_code !== null && [
          isUncertain(refund) ? 'Last payment' : 'Last payment failed',
          <code key="code">{refund.failure_code}</code>,
        ],
      ]}
    />
  );
}

function Cancel({ path, refund, reload }: { path: string; refund: Refund; reload(): Promise<void> }) {
  const { api } = useSignedIn();
  return (
    <ConfirmedButton
      label="Cancel the refund"
      confirm="Cancel it"
      isDangerous
      work={async () => {
        await api.change(`${path}/cancel`);
        await reload();
        return 'The refund is canceled. Its link no longer takes a payment.';
      }}
    >
      <p>
        Its link stops working.{' '}
        {isUncertain(refund)
          ? 'A payment of it may have been taken: another refund could pay the buyer twice.'
          : 'You can create another refund of the payment afterwards.'}
      </p>
    </ConfirmedButton>
  );
}
