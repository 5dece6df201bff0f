import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { readAccess } from './api/access.js';
import { createApi } from './api/client.js';
import { SignedInContext } from './api/signed-in.js';
import { Notices } from './parts/notices.js';
import { Screen } from './parts/screen.js';
import { useKeptFocus } from './parts/use-kept-focus.js';
import { Header } from './screens/header.js';
import { KeysScreen } from './screens/keys.js';
import { LinksScreen } from './screens/links.js';
import { OverviewScreen } from './screens/overview.js';
import { PaymentsScreen } from './screens/payments.js';
import { RefundsScreen } from './screens/refunds.js';
import { SearchScreen } from './screens/search.js';
import { SignIn } from './screens/sign-in.js';
import { WebhooksScreen } from './screens/webhooks.js';
import { forgetKey, isLiveKey, keepKey, readKey } from './state/key.js';
import { goTo, type Route, useRoute } from './state/route.js';

const SCREENS = new Map<string, ComponentType<{ route: Route }>>([
  ['overview', OverviewScreen],
  ['payments', PaymentsScreen],
  ['links', LinksScreen],
  ['refunds', RefundsScreen],
  ['webhooks', WebhooksScreen],
  ['keys', KeysScreen],
  ['search', SearchScreen],
]);

/** An answer of 401 does not say whether the key was deleted or its account disabled. */
const KEY_REFUSED =
  "This key was deleted, or its account is disabled. Sign in with another key; when none works, ask the service's operator.";

interface SignInState {
  key: string | undefined;
  isReadOnly: boolean;
  /** Why the page is signed out. */
  reason: string;
}

const SIGNED_OUT: SignInState = { key: undefined, isReadOnly: false, reason: '' };

export function App() {
  const [{ key, isReadOnly, reason }, setSignIn] = useState<SignInState>(() => ({
    ...SIGNED_OUT,
    key: readKey(),
  }));

  const signIn = (given: string): void => {
    keepKey(given);
    setSignIn({ ...SIGNED_OUT, key: given });
  };
  /** An answer to an earlier key changes nothing: another key may have signed in meanwhile. */
  const change = (of: string, changes: Partial<SignInState>): void =>
    setSignIn((now) => (now.key === of ? { ...now, ...changes } : now));
  const signOut = (ended: string, sentence = ''): void => {
    forgetKey(ended);
    change(ended, { ...SIGNED_OUT, reason: sentence });
  };
  const api = useMemo(
    () =>
      key === undefined
        ? undefined
        : createApi(key, {
            onUnknownKey: () => signOut(key, KEY_REFUSED),
            onReadOnlyKey: () => change(key, { isReadOnly: true }),
          }),
    [key],
  );
  useEffect(() => {
    if (api === undefined || key === undefined) return undefined;
    void readAccess(api).then((access) => change(key, { isReadOnly: access === 'read' }));
    return () => api.end();
  }, [api]);

  useEffect(() => {
    /** The way back may show a page as it was left, signed in with a key that the tab has forgotten since. */
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (persisted && key !== undefined && readKey() !== key) location.reload();
    };
    addEventListener('pageshow', comeBack);
    return () => removeEventListener('pageshow', comeBack);
  }, [key]);

  useFocusAfterSignIn(key !== undefined);

  if (key === undefined || api === undefined) return <SignIn reason={reason} onSignIn={signIn} />;
  const leave = (): void => {
    goTo('#/');
    signOut(key);
  };
  return (
    <SignedInContext.Provider value={{ api, livemode: isLiveKey(key), isReadOnly, signOut: leave }}>
      <SignedInPage keyEnd={key.slice(-4)} />
    </SignedInContext.Provider>
  );
}

/** The whole page is replaced at a sign-in and a sign-out: the focus goes to the title, or to the field of the key. */
function useFocusAfterSignIn(isSignedIn: boolean): void {
  const wasSignedIn = useRef(isSignedIn);
  useLayoutEffect(() => {
    if (wasSignedIn.current === isSignedIn) return;
    wasSignedIn.current = isSignedIn;
    document.querySelector<HTMLElement>(isSignedIn ? 'h1' : '.sign-in input')?.focus();
  }, [isSignedIn]);
}

function SignedInPage({ keyEnd }: { keyEnd: string }) {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const place = [route.screen, ...route.rest].join('/');
  const lastPlace = useRef(place);
  const ActiveScreen = SCREENS.get(route.screen);
  useKeptFocus(main);
  // An effect after the painting could take the focus from a field that was chosen meanwhile.
  useLayoutEffect(() => {
    if (lastPlace.current === place) return;
    lastPlace.current = place;
    // A screen reader goes on at the new screen.
    main.current?.querySelector('h1')?.focus();
    scrollTo(0, 0);
  }, [place]);
  return (
    <>
      <Header route={route} keyEnd={keyEnd} />
      <main ref={main}>
        {ActiveScreen === undefined ? (
          <Screen title="There is no such screen.">
            <a href="#/">Go to the overview</a>
          </Screen>
        ) : (
          <ActiveScreen route={route} />
        )}
      </main>
      <Notices />
    </>
  );
}
