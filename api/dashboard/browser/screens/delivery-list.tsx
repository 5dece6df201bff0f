import type { Delivery, Endpoint } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { Choice } from '../parts/field.js';
import { plural } from '../parts/format.js';
import { ListView, useList } from '../parts/list.js';
import { notify } from '../parts/notices.js';
import { Empty, Failure } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Badge, IdLink, When } from '../parts/texts.js';
import { onPress, useAction } from '../parts/use-action.js';
import { goTo, linkTo, type Route } from '../state/route.js';
import { answerInWords, deliveriesPath } from './deliveries.js';

const STATUSES = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['dropped', 'Dropped'],
] as const;

export function DeliveryList({ endpoint, route }: { endpoint: Endpoint; route: Route }) {
  const { status } = route.query;
  const path = deliveriesPath(endpoint.id);
  const read = useList<Delivery>(path, { status }, route);
  const reload = (): void => void read.reload();
  const columns: readonly Column<Delivery>[] = [
    { head: 'Event', cell: (delivery) => <EventOf delivery={delivery} /> },
    {
      head: 'Result',
      cell: (delivery) => (
        <>
          <Badge status={delivery.status} />
          <Tries delivery={delivery} />
        </>
      ),
    },
    { head: 'Created', cell: ({ created }) => <When at={created} />, isWide: true },
    { head: 'Action', cell: ({ event }) => <Resend event={event} endpoint={endpoint} onSent={reload} /> },
  ];
  return (
    <section>
      <h2>Deliveries</h2>
      <div class="filters">
        <Choice
          label="Status"
          value={status ?? ''}
          onValue={(value) => goTo(linkTo(['webhooks', endpoint.id], { status: value }))}
          options={STATUSES}
        />
      </div>
      <ListView
        read={read}
        route={route}
        caption="Deliveries, newest first"
        columns={columns}
        empty={<Empty title="No deliveries here.">They appear as soon as an event happens.</Empty>}
      />
    </section>
  );
}

function EventOf({ delivery: { event, type } }: { delivery: Delivery }) {
  return (
    <>
      <IdLink screen="webhooks/events" id={event} />
      <div class="muted">{type}</div>
    </>
  );
}

function Tries({ delivery: { tries, next_try_at: nextTryAt } }: { delivery: Delivery }) {
  if (tries.length === 0)
    return <div class="muted">{nextTryAt === null ? 'not tried' : 'not tried yet'}</div>;
  return (
    <details>
      <summary>{plural(tries.length, 'try', 'tries')}</summary>
      <ol class="tries">
        {tries.map((one) => (
          <li key={one.at}>
            <When at={one.at} />: {answerInWords(one)}
            {one.answer ? <pre class="answer">{one.answer}</pre> : null}
          </li>
        ))}
      </ol>
      {nextTryAt === null ? null : (
        <p class="muted">
          Next try: <When at={nextTryAt} />
        </p>
      )}
    </details>
  );
}

interface ResendProps {
  event: string;
  endpoint: Endpoint;
  onSent(): void;
}

function Resend({ event, endpoint, onSent }: ResendProps) {
  const { api, isReadOnly } = useSignedIn();
  const action = useAction();
  async function resend(): Promise<void> {
    await api.change(`/v1/events/${event}/resend`, { webhook_endpoint: endpoint.id });
    notify('The event will be sent again now.');
    onSent();
  }
  return (
    <>
      <button
        type="button"
        class="small"
        aria-label={`Resend ${event}`}
        disabled={isReadOnly || endpoint.status === 'disabled'}
        aria-disabled={action.isBusy}
        onClick={onPress(() => action.run(resend))}
      >
        Resend
      </button>
      <Failure error={action.error} />
    </>
  );
}
