import { EVENT_TYPES } from '../../../../shared/webhooks/event-types.js';
import type { Event } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { useRead } from '../api/use-read.js';
import { ConfirmedButton } from '../parts/dialog.js';
import { Choice } from '../parts/field.js';
import { ListView, useList } from '../parts/list.js';
import { Screen } from '../parts/screen.js';
import { Empty, ReadView } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { IdLink, When } from '../parts/texts.js';
import { goTo, linkTo, type Route } from '../state/route.js';

export function EventsScreen({ route, id }: { route: Route; id: string | undefined }) {
  return id === undefined ? <AllEvents route={route} /> : <OneEvent key={id} id={id} />;
}

/** The screen of the object that an event is about. */
function AboutLink({ event }: { event: Event }) {
  const { id } = event.data.object;
  return <IdLink screen={id.startsWith('re_') ? 'refunds' : 'links'} id={id} />;
}

/** An event's type, whose words may stand on lines of their own. */
function breakable(type: string) {
  return type.split('.').flatMap((word, index) => (index === 0 ? [word] : ['.', <wbr key={word} />, word]));
}

const COLUMNS: readonly Column<Event>[] = [
  {
    head: 'Event',
    cell: ({ id, type }) => (
      <>
        <IdLink screen="webhooks/events" id={id} />
        <div class="muted event-type">{breakable(type)}</div>
      </>
    ),
  },
  { head: 'About', cell: (event) => <AboutLink event={event} /> },
  { head: 'Created', cell: ({ created }) => <When at={created} />, isWide: true },
];

function AllEvents({ route }: { route: Route }) {
  const { type } = route.query;
  const read = useList<Event>('/v1/events', { type }, route);
  return (
    <Screen
      title="Log of events"
      actions={
        <a class="button" href={linkTo(['webhooks'])}>
          Endpoints
        </a>
      }
    >
      <div class="filters">
        <Choice
          label="Type"
          value={type ?? ''}
          onValue={(value) => goTo(linkTo(['webhooks', 'events'], { type: value }))}
          options={[['', 'All'], ...EVENT_TYPES.map((one) => [one, one] as const)]}
        />
      </div>
      <ListView
        read={read}
        route={route}
        caption="Events, newest first"
        columns={COLUMNS}
        empty={<Empty title="No events here.">They appear when a link is paid or expires.</Empty>}
      />
    </Screen>
  );
}

function OneEvent({ id }: { id: string }) {
  const { api } = useSignedIn();
  const path = `/v1/events/${encodeURIComponent(id)}`;
  const read = useRead<Event>(path, (from) => from.get(path), 60_000);
  return (
    <Screen title="Event">
      <ReadView read={read}>
        {(event) => (
          <>
            <p>
              <code>{event.type}</code>, <When at={event.created} />, about <AboutLink event={event} />
            </p>
            <ConfirmedButton
              label="Resend"
              confirm="Resend it"
              work={async () => {
                await api.change(`${path}/resend`);
                return 'The event will be sent again to every endpoint that wants it.';
              }}
            >
              <p>
                It is sent once more, under its own id, to every enabled endpoint that wants events of its
                type.
              </p>
            </ConfirmedButton>
            <h2>As it is delivered</h2>
            <pre class="answer">{JSON.stringify(event, null, 2)}</pre>
          </>
        )}
      </ReadView>
    </Screen>
  );
}
