import { useState } from 'preact/hooks';
import { useSignedIn } from '../api/signed-in.js';
import { goTo, linkTo, type Route } from '../state/route.js';

const PLACES = [
  ['overview', 'Overview'],
  ['payments', 'Payments'],
  ['links', 'Links'],
  ['refunds', 'Refunds'],
  ['webhooks', 'Webhooks'],
  ['keys', 'Keys'],
] as const;

/** The header names the mode and the screen, and leads to the others. */
export function Header({ route, keyEnd }: { route: Route; keyEnd: string }) {
  const { livemode, isReadOnly, signOut } = useSignedIn();
  return (
    <header class="top">
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <div class="top-row">
        <p class={`mode ${livemode ? 'live' : 'test'}`}>{livemode ? 'Live data' : 'Test data'}</p>
        <SearchBox key={route.screen === 'search' ? route.query.q : ''} start={route.query.q ?? ''} />
        <p class="muted key-end">
          Key <code>…{keyEnd}</code>
        </p>
        <button type="button" class="small" onClick={() => signOut()}>
          Sign out
        </button>
      </div>
      <nav aria-label="Screens">
        <ul>
          {PLACES.map(([screen, label]) => (
            <li key={screen}>
              <a href={linkTo([screen])} {...(route.screen === screen && { 'aria-current': 'page' })}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {isReadOnly ? (
        <p class="read-only">This key can only read: buttons that change something are off.</p>
      ) : null}
    </header>
  );
}

/** A link would change the fragment, which is the screen's address. */
function skip(): void {
  document.querySelector('h1')?.focus();
}

function SearchBox({ start }: { start: string }) {
  const [text, setText] = useState(start);
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') goTo(linkTo(['search'], { q: text.trim() }));
        }}
      >
        <input
          type="search"
          aria-label="Search by id, transaction, wallet, order number or e-mail"
          placeholder="Id, transaction, wallet, order or e-mail"
          autoComplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit" class="small">
          Search
        </button>
      </form>
    </search>
  );
}
