import type { Key, List } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import type { Read } from '../api/use-read.js';
import { ConfirmedButton } from '../parts/dialog.js';
import { ListView, useList } from '../parts/list.js';
import { Screen } from '../parts/screen.js';
import { Empty } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Badge, Id, Text, When } from '../parts/texts.js';
import type { Route } from '../state/route.js';

const COLUMNS: readonly Column<Key>[] = [
  { head: 'Name', cell: ({ name }) => <Text>{name}</Text> },
  { head: 'Id', cell: ({ id }) => <Id>{id}</Id>, isWide: true },
  {
    head: 'Access',
    cell: ({ access = 'full' }) => <Badge status={access === 'read' ? 'read only' : 'full'} />,
    isWide: true,
  },
  { head: 'Made by', cell: (key) => key.facilitator_key ?? 'the operator', isWide: true },
  { head: 'Created', cell: ({ created }) => <When at={created} />, isWide: true },
  { head: 'Last used', cell: (key) => (key.last_used ? <When at={key.last_used} /> : 'never') },
];

export function KeysScreen({ route }: { route: Route }) {
  const read = useList<Key>('/v1/keys', {}, route);
  const columns = [
    ...COLUMNS,
    { head: 'Action', cell: (key: Key) => <DeleteKey apiKey={key} read={read} /> },
  ];
  return (
    <Screen title="Keys">
      <p class="muted">
        Your programs call the API with these keys. The service's operator creates keys; agents can sign up
        for their own. A key's secret is shown once, at its creation.
      </p>
      <ListView
        read={read}
        route={route}
        caption="Checkout keys, newest first"
        columns={columns}
        empty={<Empty title="No keys on this page.">Ask the service's operator for one.</Empty>}
      />
    </Screen>
  );
}

function DeleteKey({ apiKey: { id, name }, read }: { apiKey: Key; read: Read<List<Key>> }) {
  const { api } = useSignedIn();
  return (
    <ConfirmedButton
      label="Delete key"
      confirm="Delete it"
      isDangerous
      work={async () => {
        await api.remove(`/v1/keys/${encodeURIComponent(id)}`);
        await read.reload();
        return `The key ${name} is deleted. It fails from now on.`;
      }}
    >
      <p>
        <Text>{name}</Text> (<Id>{id}</Id>) fails from its next request on. This cannot be undone. If you
        signed in with it, you are signed out.
      </p>
    </ConfirmedButton>
  );
}
