import { useRef, useState } from 'preact/hooks';
import type { Session } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { Choice, Field, Form } from '../parts/field.js';
import { parseDollars } from '../parts/format.js';
import { notify } from '../parts/notices.js';
import { Screen } from '../parts/screen.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../parts/use-action.js';
import { nowSeconds } from '../state/clock.js';
import { goToUnlessLeft, linkTo, shownScreen } from '../state/route.js';

interface Item {
  name: string;
  description: string;
  price: string;
  quantity: string;
}

interface Pair {
  name: string;
  value: string;
}

const NEW_ITEM: Item = { name: '', description: '', price: '', quantity: '1' };
const NEW_PAIR: Pair = { name: '', value: '' };
const MOST_ITEMS = 100;
const MOST_PAIRS = 50;
const HOURS = [
  ['0.5', '30 minutes'],
  ['1', '1 hour'],
  ['6', '6 hours'],
  ['24', '24 hours'],
] as const;

function itemOf({ name, description, price, quantity }: Item, index: number): object {
  const cents = parseDollars(price);
  if (cents === undefined) throw new Error(`The price of item ${index + 1} is an amount such as 4.50.`);
  const product_data = { name, ...(description !== '' && { description }) };
  const price_data = { currency: 'usd', unit_amount: cents, product_data };
  return { price_data, quantity: Number(quantity) };
}

/** Rows of the form that have neither a name nor a value are left out. */
function metadataOf(pairs: readonly Pair[]): Record<string, string> {
  const nameless = pairs.findIndex(({ name, value }) => name === '' && value !== '');
  if (nameless >= 0) throw new Error(`Value ${nameless + 1} of the metadata has no name.`);
  const named = pairs.filter(({ name }) => name !== '');
  const names = named.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`Two values of the metadata have the name ${twice}.`);
  return Object.fromEntries(named.map(({ name, value }) => [name, value]));
}

export function NewLink() {
  const { api, isReadOnly } = useSignedIn();
  const [items, setItems] = useState<readonly Item[]>([NEW_ITEM]);
  const [pairs, setPairs] = useState<readonly Pair[]>([]);
  const [facts, setFacts] = useState({ successUrl: '', order: '', email: '', hours: '24' });
  const action = useAction();
  const set = (name: keyof typeof facts) => (value: string) => setFacts({ ...facts, [name]: value });

  async function create(): Promise<void> {
    const { successUrl, order, email, hours } = facts;
    const asked = {
      line_items: items.map(itemOf),
      ...(successUrl !== '' && { success_url: successUrl }),
      ...(order !== '' && { client_reference_id: order }),
      ...(email !== '' && { customer_email: email }),
      metadata: metadataOf(pairs),
    };
    // A session without `expires_at` ends 24 hours later by the service's own clock.
    const end = hours !== '24' && { expires_at: nowSeconds() + Number(hours) * 3600 };
    const body = { ...asked, ...end };
    const screen = shownScreen();
    const session = await api.create<Session>('/v1/checkout/sessions', body, { ...asked, hours });
    notify('The link is created. Copy it, or show its QR code.');
    goToUnlessLeft(screen, linkTo(['links', session.id]));
  }

  return (
    <Screen title="Create a link">
      <Form label="Create a link" onSend={() => void action.run(create)}>
        <Items items={items} onItems={setItems} />
        <Field
          label="After paying, go to"
          type="url"
          value={facts.successUrl}
          onValue={set('successUrl')}
          hint="A URL of yours. Optional."
        />
        <Field
          label="Order number"
          value={facts.order}
          onValue={set('order')}
          longest={200}
          hint="Optional."
        />
        <Field
          label="Buyer's e-mail"
          type="email"
          value={facts.email}
          onValue={set('email')}
          hint="Optional."
        />
        <Choice label="The link can be paid for" value={facts.hours} onValue={set('hours')} options={HOURS} />
        <Metadata pairs={pairs} onPairs={setPairs} />
        <Failure error={action.error} />
        <button type="submit" class="primary" disabled={isReadOnly} aria-disabled={action.isBusy}>
          {action.isBusy ? 'Creating …' : 'Create the link'}
        </button>
      </Form>
    </Screen>
  );
}

interface ItemsProps {
  items: readonly Item[];
  onItems(items: readonly Item[]): void;
}

function Items({ items, onItems }: ItemsProps) {
  const adding = useRef<HTMLButtonElement>(null);
  function remove(index: number): void {
    onItems(items.toSpliced(index, 1));
    // The button that was pressed may go with its item.
    adding.current?.focus();
  }
  return (
    <>
      {items.map((item, index) => (
        <ItemFields
          // Items have no other name than their place.
          key={index}
          item={item}
          number={index + 1}
          onItem={(changed) => onItems(items.with(index, changed))}
          onRemove={items.length > 1 ? () => remove(index) : undefined}
        />
      ))}
      <p>
        <button
          ref={adding}
          type="button"
          disabled={items.length >= MOST_ITEMS}
          onClick={() => onItems([...items, NEW_ITEM])}
        >
          Add an item
        </button>
      </p>
    </>
  );
}

interface ItemFieldsProps {
  item: Item;
  number: number;
  onItem(item: Item): void;
  onRemove: (() => void) | undefined;
}

function ItemFields({ item, number, onItem, onRemove }: ItemFieldsProps) {
  const set = (name: keyof Item) => (value: string) => onItem({ ...item, [name]: value });
  return (
    <fieldset>
      <legend>Item {number}</legend>
      <Field label="Name" value={item.name} onValue={set('name')} longest={250} isRequired />
      <div class="row">
        <Field
          label="Price in dollars"
          value={item.price}
          onValue={set('price')}
          inputMode="decimal"
          isRequired
        />
        <Field label="Quantity" type="number" value={item.quantity} onValue={set('quantity')} isRequired />
      </div>
      <Field
        label="Description"
        value={item.description}
        onValue={set('description')}
        longest={500}
        hint="Optional."
      />
      {onRemove === undefined ? null : (
        <button type="button" class="small" onClick={onRemove}>
          Remove item {number}
        </button>
      )}
    </fieldset>
  );
}

interface MetadataProps {
  pairs: readonly Pair[];
  onPairs(pairs: readonly Pair[]): void;
}

function Metadata({ pairs, onPairs }: MetadataProps) {
  const set = (index: number, change: Partial<Pair>): void =>
    onPairs(pairs.map((pair, place) => (place === index ? { ...pair, ...change } : pair)));
  return (
    <fieldset>
      <legend>Metadata</legend>
      <p class="hint">Names and values of your own, which your webhooks and lists repeat. Optional.</p>
      {pairs.map((pair, index) => (
        <div class="row" key={index}>
          <Field
            label={`Name ${index + 1}`}
            value={pair.name}
            onValue={(name) => set(index, { name })}
            longest={40}
          />
          <Field
            label={`Value ${index + 1}`}
            value={pair.value}
            onValue={(value) => set(index, { value })}
            longest={500}
          />
        </div>
      ))}
      <button
        type="button"
        class="small"
        disabled={pairs.length >= MOST_PAIRS}
        onClick={() => onPairs([...pairs, NEW_PAIR])}
      >
        Add metadata
      </button>
    </fieldset>
  );
}
