import type { Api } from '../api/client.js';
import type { Delivery, Endpoint, Event, List, Refund, Session } from '../api/objects.js';
import { type Read, useRead } from '../api/use-read.js';
import { dollars } from '../parts/format.js';
import { IdLink, Text } from '../parts/texts.js';
import { type Moment, Timeline } from '../parts/timeline.js';
import { RefundBadge } from '../parts/uncertain.js';
import { linkTo } from '../state/route.js';
import { answerInWords, hasFailed, newestDeliveries } from './deliveries.js';

/** The API lists deliveries by endpoint: the newest deliveries of the newest endpoints are searched for the session's. */
const ENDPOINTS = '10';
const DELIVERIES = '100';
const EVERY_MS = 15_000;

interface Sent {
  endpoint: Endpoint;
  delivery: Delivery;
}

interface History {
  events: Event[];
  sent: Sent[];
}

export function useHistory(sessionId: string | undefined): Read<History> {
  return useRead(`history of ${sessionId}`, (api) => loadHistory(api, sessionId), EVERY_MS);
}

async function loadHistory(api: Api, sessionId: string | undefined): Promise<History> {
  if (sessionId === undefined) return { events: [], sent: [] };
  const [events, endpoints] = await Promise.all([
    api.get<List<Event>>('/v1/events', { checkout_session: sessionId, limit: '100' }),
    api.get<List<Endpoint>>('/v1/webhook_endpoints', { limit: ENDPOINTS }),
  ]);
  const ids = new Set(events.data.map(({ id }) => id));
  if (ids.size === 0) return { events: [], sent: [] };
  const sent = await Promise.all(
    endpoints.data.map(async (endpoint) => {
      const newest = await newestDeliveries(api, endpoint.id, DELIVERIES);
      return newest.filter(({ event }) => ids.has(event)).map((delivery) => ({ endpoint, delivery }));
    }),
  );
  return { events: events.data, sent: sent.flat() };
}

interface HistoryProps {
  session: Session | undefined;
  refunds: List<Refund>;
  history: Read<History>;
  /** Moments that the screen adds, such as the payment's own. */
  more?: readonly Moment[];
}

/** Everything that happened to a session and its payment, with the webhooks that told of it. */
export function HistoryView({ session, refunds, history, more = [] }: HistoryProps) {
  // The lists are newest first, and times are whole seconds: moments of one second stay in the order given here.
  const moments = [
    ...(session === undefined ? [] : sessionMoments(session)),
    ...more,
    ...refunds.data.toReversed().flatMap(refundMoments),
    ...(history.data?.events ?? []).toReversed().map(eventMoment),
    ...(history.data?.sent ?? []).toReversed().flatMap(deliveryMoments),
  ];
  return (
    <section>
      <h2>Timeline</h2>
      {history.error === undefined ? null : (
        <p class="stale" role="status">
          Events and deliveries may be missing here. {history.error.message}
        </p>
      )}
      <Timeline moments={moments} />
      <p class="hint">
        Deliveries among the newest {DELIVERIES} of each endpoint are shown. Older ones are on the{' '}
        <a href={linkTo(['webhooks'])}>endpoint's screen</a>.
      </p>
      <MoreRefunds refunds={refunds} />
    </section>
  );
}

function MoreRefunds({ refunds: { data, has_more: hasMore } }: { refunds: List<Refund> }) {
  if (!hasMore) return null;
  return (
    <p class="hint">
      The newest {data.length} refunds are shown.{' '}
      <a href={linkTo(['refunds'], { payment: data[0]?.payment })}>All refunds of the payment</a>
    </p>
  );
}

function sessionMoments({ id, created, amount_total: amount }: Session): Moment[] {
  return [
    {
      key: `${id} created`,
      at: created,
      title: `Link of ${dollars(amount)} created`,
      detail: <IdLink screen="links" id={id} />,
    },
  ];
}

function refundMoments(refund: Refund): Moment[] {
  const { id, amount, created, settled_at: settledAt } = refund;
  const detail = (
    <>
      <IdLink screen="refunds" id={id} /> <RefundBadge refund={refund} />
    </>
  );
  const made: Moment = {
    key: `${id} created`,
    at: created,
    title: `Refund of ${dollars(amount)} created`,
    detail,
  };
  if (settledAt === null) return [made];
  return [
    made,
    { key: `${id} paid`, at: settledAt, title: `Refund of ${dollars(amount)} paid`, tone: 'good' },
  ];
}

function eventMoment({ id, created, type }: Event): Moment {
  return {
    key: id,
    at: created,
    title: `Event ${type}`,
    detail: <IdLink screen="webhooks/events" id={id} />,
  };
}

function deliveryMoments({ endpoint, delivery }: Sent): Moment[] {
  return delivery.tries.map((one, index) => ({
    key: `${delivery.id} ${index}`,
    at: one.at,
    title: `Webhook: ${answerInWords(one)}`,
    tone: hasFailed(one) ? 'bad' : 'good',
    detail: (
      <a href={linkTo(['webhooks', endpoint.id])}>
        <Text>{endpoint.url}</Text>
      </a>
    ),
  }));
}
