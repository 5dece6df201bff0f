import { useState } from 'preact/hooks';
import type { Api } from '../api/client.js';
import type { List, Payment, Refund, Session } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { useRead } from '../api/use-read.js';
import { explorerFact, Facts } from '../parts/facts.js';
import { dollars, tokens } from '../parts/format.js';
import { Screen } from '../parts/screen.js';
import { ReadView } from '../parts/states.js';
import { Copyable, IdLink, Text, When } from '../parts/texts.js';
import type { Moment } from '../parts/timeline.js';
import { BuyerMayHavePaid, isUncertain, PaymentBadge, RefundMayBePaid } from '../parts/uncertain.js';
import { linkTo, type Route } from '../state/route.js';
import { HistoryView, useHistory } from './history.js';
import { leftAtMost, RefundForm } from './refund-form.js';

interface Whole {
  payment: Payment;
  session: Session | undefined;
  /** The newest refunds of the payment. */
  refunds: List<Refund>;
}

async function loadWhole(api: Api, id: string): Promise<Whole> {
  const payment = await api.get<Payment>(`/v1/payments/${encodeURIComponent(id)}`);
  const { checkout_session: sessionId } = payment;
  const [session, refunds] = await Promise.all([
    sessionId === undefined ? undefined : api.get<Session>(`/v1/checkout/sessions/${sessionId}`),
    api.get<List<Refund>>('/v1/refunds', { payment: payment.id, limit: '100' }),
  ]);
  return { payment, session, refunds };
}

export function PaymentScreen({ id, route }: { id: string; route: Route }) {
  const read = useRead(`payment ${id}`, (api) => loadWhole(api, id));
  const history = useHistory(read.data?.payment.checkout_session);
  return (
    <Screen title="Payment">
      <ReadView read={read}>
        {({ payment, session, refunds }) => (
          <>
            <PaymentFacts payment={payment} session={session} />
            {payment.status === 'succeeded' && payment.refund === undefined ? (
              <RefundSection
                payment={payment}
                refunds={refunds}
                isOpenAtFirst={route.query.refund === 'true'}
              />
            ) : null}
            <HistoryView
              session={session}
              refunds={refunds}
              history={history}
              more={paymentMoments(payment)}
            />
          </>
        )}
      </ReadView>
    </Screen>
  );
}

function PaymentFacts({ payment, session }: { payment: Payment; session: Session | undefined }) {
  const { transaction, transaction_url: transactionUrl, refund } = payment;
  return (
    <section>
      <p class="amount">
        {dollars(payment.amount)} <PaymentBadge payment={payment} />
      </p>
      {isUncertain(payment) ? <MayBePaid payment={payment} /> : null}
      <Facts
        rows={[
          ['Payment', <Copyable key="id" value={payment.id} label="the payment's id" />],
          [
            'Paid in',
            `${tokens(payment.token_amount, payment.token_decimals)} ${payment.token} on ${payment.network_name}`,
          ],
          ['Paid by', <Text key="payer">{payment.payer}</Text>],
          ['Paid to', <Text key="to">{payment.pay_to}</Text>],
          ['Transaction', <Text key="tx">{transaction}</Text>],
          explorerFact(transactionUrl),
          ['Sent from', payment.channel === 'page' ? 'the payment page' : 'an agent (x402)'],
          ['Settled', <When key="settled" at={payment.settled_at} />],
          payment.failure_code != null && [
            isUncertain(payment) ? 'Outcome' : 'Failed with',
            <code key="code">{payment.failure_code}</code>,
          ],
          ...(session === undefined ? [] : sessionFacts(session)),
          refund !== undefined && [
            'Pays the refund',
            <a key="re" href={linkTo(['refunds', refund])}>
              {refund}
            </a>,
          ],
        ]}
      />
    </section>
  );
}

function MayBePaid({ payment }: { payment: Payment }) {
  return payment.refund === undefined ? <BuyerMayHavePaid payment={payment} /> : <RefundMayBePaid />;
}

function sessionFacts({ id, client_reference_id: order, customer_email: email }: Session) {
  return [
    ['Link', <IdLink key="link" screen="links" id={id} />],
    ['Order', <Text key="order">{order}</Text>],
    ['Buyer', <Text key="buyer">{email}</Text>],
  ] as const;
}

function paymentMoments(payment: Payment): Moment[] {
  const { id, created, settled_at: settledAt, status } = payment;
  const failed = isUncertain(payment) ? 'Payment given up, its outcome is not known' : 'Payment failed';
  return [
    { key: `${id} made`, at: created, title: 'Payment accepted' },
    ...(settledAt === null
      ? []
      : [{ key: `${id} settled`, at: settledAt, title: 'Payment settled', tone: 'good' as const }]),
    ...(status === 'failed'
      ? [{ key: `${id} failed`, at: created, title: failed, tone: 'bad' as const }]
      : []),
  ];
}

interface RefundSectionProps {
  payment: Payment;
  refunds: List<Refund>;
  isOpenAtFirst: boolean;
}

function RefundSection({ payment, refunds, isOpenAtFirst }: RefundSectionProps) {
  const { isReadOnly } = useSignedIn();
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const left = { atMost: leftAtMost(payment, refunds.data), isExact: !refunds.has_more };
  return (
    <section aria-label="Refund">
      {left.atMost === 0 ? <p class="muted">The whole payment is refunded, or its refunds wait.</p> : null}
      {isOpen && left.atMost > 0 ? (
        <RefundForm payment={payment} left={left} onCancel={() => setIsOpen(false)} />
      ) : null}
      {!isOpen && left.atMost > 0 ? (
        <div class="actions">
          <button type="button" disabled={isReadOnly} onClick={() => setIsOpen(true)}>
            Refund
          </button>
        </div>
      ) : null}
    </section>
  );
}
