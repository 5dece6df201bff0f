import { useState } from 'preact/hooks';
import type { Endpoint } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { useRead } from '../api/use-read.js';
import { ConfirmedButton } from '../parts/dialog.js';
import { Facts } from '../parts/facts.js';
import { Choice, Form } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Screen } from '../parts/screen.js';
import { Failure, ReadView } from '../parts/states.js';
import { Badge, Copyable, Text, When } from '../parts/texts.js';
import { onPress, useAction } from '../parts/use-action.js';
import { goToUnlessLeft, linkTo, type Route, shownScreen } from '../state/route.js';
import { DeliveryList } from './delivery-list.js';
import { changedBody, EndpointFields, valuesOf } from './endpoint-fields.js';
import { LastAnswer } from './last-answer.js';

export function EndpointScreen({ id, route }: { id: string; route: Route }) {
  const path = `/v1/webhook_endpoints/${encodeURIComponent(id)}`;
  const read = useRead<Endpoint>(path, (api) => api.get(path));
  const [isChanging, setIsChanging] = useState(false);
  const [newSecret, setNewSecret] = useState<string | undefined>(undefined);
  return (
    <Screen title="Webhook endpoint">
      <ReadView read={read}>
        {(endpoint) => (
          <>
            <section>
              <EndpointFacts endpoint={endpoint} />
              {newSecret === undefined ? null : <NewSecret secret={newSecret} />}
              {isChanging ? (
                <Change
                  endpoint={endpoint}
                  path={path}
                  reload={read.reload}
                  onDone={() => setIsChanging(false)}
                />
              ) : (
                <Actions
                  endpoint={endpoint}
                  path={path}
                  reload={read.reload}
                  onChange={() => setIsChanging(true)}
                  onSecret={setNewSecret}
                />
              )}
            </section>
            <LastAnswer endpoint={endpoint} />
            <DeliveryList endpoint={endpoint} route={route} />
          </>
        )}
      </ReadView>
    </Screen>
  );
}

function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  return (
    <Facts
      rows={[
        ['URL', <Text key="url">{endpoint.url}</Text>],
        ['Status', <Badge key="status" status={endpoint.status} />],
        ['Description', <Text key="description">{endpoint.description}</Text>],
        [
          'Events',
          endpoint.enabled_events.includes('*') ? 'every event' : endpoint.enabled_events.join(', '),
        ],
        ['Id', <Copyable key="id" value={endpoint.id} label="the endpoint's id" />],
        ['Created', <When key="created" at={endpoint.created} />],
      ]}
    />
  );
}

interface EndpointProps {
  endpoint: Endpoint;
  path: string;
  reload(): Promise<void>;
}

interface ActionsProps extends EndpointProps {
  onChange(): void;
  onSecret(secret: string): void;
}

function Actions({ endpoint, path, reload, onChange, onSecret }: ActionsProps) {
  const { api, isReadOnly } = useSignedIn();
  const toggle = useAction();
  const isDisabled = endpoint.status === 'disabled';
  async function setDisabled(disabled: boolean): Promise<void> {
    await api.change(path, { disabled });
    await reload();
    notify(
      disabled
        ? 'The endpoint is disabled. Its deliveries are held.'
        : 'The endpoint is enabled. Held deliveries are sent now.',
    );
  }
  return (
    <div class="actions">
      <button type="button" disabled={isReadOnly} onClick={onChange}>
        Change
      </button>
      <button
        type="button"
        disabled={isReadOnly}
        aria-disabled={toggle.isBusy}
        onClick={onPress(() => toggle.run(() => setDisabled(!isDisabled)))}
      >
        {isDisabled ? 'Enable' : 'Disable'}
      </button>
      <RollSecret path={path} onSecret={onSecret} />
      <ConfirmedButton
        label="Delete"
        confirm="Delete it"
        isDangerous
        work={async () => {
          const screen = shownScreen();
          await api.remove(path);
          goToUnlessLeft(screen, linkTo(['webhooks']));
          return 'The endpoint is deleted. Deliveries that waited are dropped.';
        }}
      >
        <p>No event is sent to it any more, and deliveries that wait are dropped. This cannot be undone.</p>
      </ConfirmedButton>
      <Failure error={toggle.error} />
    </div>
  );
}

function Change({ endpoint, path, reload, onDone }: EndpointProps & { onDone(): void }) {
  const { api } = useSignedIn();
  const [before] = useState(() => valuesOf(endpoint));
  const [values, setValues] = useState(before);
  const action = useAction();
  async function save(): Promise<void> {
    await api.change(path, changedBody(before, values));
    await reload();
    notify('The endpoint is changed.');
    onDone();
  }
  return (
    <Form label="Change the endpoint" onSend={() => void action.run(save)}>
      <EndpointFields values={values} onValues={setValues} />
      <Failure error={action.error} />
      <div class="actions">
        <button type="button" disabled={action.isBusy} onClick={onDone}>
          Keep it as it is
        </button>
        <button type="submit" class="primary" aria-disabled={action.isBusy}>
          Save
        </button>
      </div>
    </Form>
  );
}

/** The new secret is shown until the merchant leaves the screen. */
function NewSecret({ secret }: { secret: string }) {
  return (
    <div class="secret-shown">
      <p>The new secret, shown only now:</p>
      <Copyable value={secret} label="the new signing secret" />
    </div>
  );
}

/** How long the old secret goes on signing, in seconds. */
const OVERLAPS = [
  ['86400', 'for a day'],
  ['3600', 'for an hour'],
  ['0', 'not at all: it ends now'],
] as const;

function RollSecret({ path, onSecret }: { path: string; onSecret(secret: string): void }) {
  const { api } = useSignedIn();
  const [overlap, setOverlap] = useState('86400');
  return (
    <ConfirmedButton
      label="Roll the secret"
      confirm="Make a new secret"
      work={async () => {
        const screen = shownScreen();
        const rolled = await api.change<Endpoint>(`${path}/roll_secret`, { expires_in: Number(overlap) });
        onSecret(rolled.secret ?? '');
        return shownScreen() === screen
          ? 'The endpoint has a new secret. Put it into your program.'
          : 'The endpoint has a new secret. It was not shown, because you left the screen: roll it again.';
      }}
    >
      <p>Events are signed with a new secret. The old one can go on signing beside it meanwhile.</p>
      <Choice label="The old secret signs" value={overlap} onValue={setOverlap} options={OVERLAPS} />
    </ConfirmedButton>
  );
}
