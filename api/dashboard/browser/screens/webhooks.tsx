import { useState } from 'preact/hooks';
import type { Endpoint } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { Form } from '../parts/field.js';
import { ListView, useList } from '../parts/list.js';
import { notify } from '../parts/notices.js';
import { Screen } from '../parts/screen.js';
import { Empty, Failure } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Badge, Copyable, Text } from '../parts/texts.js';
import { useAction } from '../parts/use-action.js';
import { linkTo, type Route, shownScreen } from '../state/route.js';
import { answerInWords } from './deliveries.js';
import { EndpointScreen } from './endpoint.js';
import { EMPTY_ENDPOINT, EndpointFields, endpointBody } from './endpoint-fields.js';
import { EventsScreen } from './events.js';
import { useHealth } from './health.js';

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    head: 'Endpoint',
    cell: ({ id, url, description }) => (
      <>
        <a href={linkTo(['webhooks', id])}>
          <Text>{url}</Text>
        </a>
        {description === null ? null : (
          <div class="muted">
            <Text>{description}</Text>
          </div>
        )}
      </>
    ),
  },
  { head: 'Status', cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
];

export function WebhooksScreen({ route }: { route: Route }) {
  const [id, eventId] = route.rest;
  if (id === 'events') return <EventsScreen route={route} id={eventId} />;
  if (id === 'new') return <NewEndpoint />;
  return id === undefined ? (
    <AllEndpoints route={route} />
  ) : (
    <EndpointScreen key={id} id={id} route={route} />
  );
}

function AllEndpoints({ route }: { route: Route }) {
  const read = useList<Endpoint>('/v1/webhook_endpoints', {}, route);
  return (
    <Screen
      title="Webhooks"
      actions={
        <>
          <a class="button" href={linkTo(['webhooks', 'events'])}>
            Log of events
          </a>
          <a class="button primary" href={linkTo(['webhooks', 'new'])}>
            Add an endpoint
          </a>
        </>
      }
    >
      <ListView
        read={read}
        route={route}
        caption="Webhook endpoints, newest first"
        columns={COLUMNS}
        empty={
          <Empty title="No endpoints yet.">
            <a href={linkTo(['webhooks', 'new'])}>Add an endpoint</a>, and your program is told of each
            payment.
          </Empty>
        }
      />
    </Screen>
  );
}

function EndpointStatus({ endpoint: { id, status } }: { endpoint: Endpoint }) {
  const { data } = useHealth(id);
  return (
    <>
      <Badge status={status === 'enabled' && data?.isFailing ? 'failing' : status} />
      {data === undefined ? null : (
        <div class="muted">
          {data.tries === 0 ? 'Nothing was sent yet' : `${data.succeeded} of ${data.tries} tries succeeded`}
        </div>
      )}
      {data?.lastFailed === undefined ? null : (
        <div class="muted">Last error: {answerInWords(data.lastFailed)}</div>
      )}
    </>
  );
}

/** The secret is in the answer to the creation and never again, so it is shown before anything else. */
function NewEndpoint() {
  const { api, isReadOnly } = useSignedIn();
  const [values, setValues] = useState(EMPTY_ENDPOINT);
  const [made, setMade] = useState<Endpoint | undefined>(undefined);
  const action = useAction();
  if (made !== undefined) return <Made endpoint={made} />;
  async function create(): Promise<void> {
    const screen = shownScreen();
    setMade(await api.create<Endpoint>('/v1/webhook_endpoints', endpointBody(values)));
    notify(
      shownScreen() === screen
        ? 'The endpoint is created.'
        : 'The endpoint is created. Its secret was not shown, because you left the form: roll it.',
    );
  }
  return (
    <Screen title="Add an endpoint">
      <Form label="Add an endpoint" onSend={() => void action.run(create)}>
        <EndpointFields values={values} onValues={setValues} />
        <Failure error={action.error} />
        <button type="submit" class="primary" disabled={isReadOnly} aria-disabled={action.isBusy}>
          {action.isBusy ? 'Adding …' : 'Add the endpoint'}
        </button>
      </Form>
    </Screen>
  );
}

function Made({ endpoint }: { endpoint: Endpoint }) {
  return (
    <Screen title="Keep this secret">
      <p>
        Your program verifies events with it. It is shown only now: keep it, for example in the environment of
        your program.
      </p>
      <Copyable value={endpoint.secret ?? ''} label="the signing secret" />
      <p>
        <a class="button" href={linkTo(['webhooks', endpoint.id])}>
          I have kept it
        </a>
      </p>
    </Screen>
  );
}
