import { useEffect, useId, useState } from 'preact/hooks';
import { ApiError, createApi } from '../api/client.js';
import { Form } from '../parts/field.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../parts/use-action.js';
import { isKeyShaped } from '../state/key.js';

const NOT_A_KEY =
  'A checkout key begins with svc_ck_live_ or svc_ck_test_. Check that you have copied all of it.';
const UNKNOWN = 'This key is not known. Check that you have copied all of it.';

/** The merchant pastes a key, which one request proves. */
export function SignIn({ reason, onSignIn }: { reason: string; onSignIn(key: string): void }) {
  const [text, setText] = useState('');
  const action = useAction();
  const id = useId();
  useEffect(() => {
    document.title = 'Sign in to the dashboard';
  }, []);

  async function prove(): Promise<void> {
    const key = text.trim();
    if (!isKeyShaped(key)) throw new Error(NOT_A_KEY);
    const api = createApi(key, { onUnknownKey: () => {}, onReadOnlyKey: () => {} });
    await api.get('/v1/keys', { limit: '1' }).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'api_key_invalid' ? new Error(UNKNOWN) : error;
    });
    onSignIn(key);
  }

  return (
    <main class="sign-in">
      <h1>Sign in to the dashboard</h1>
      {reason === '' ? null : (
        <p class="failure" role="alert">
          {reason}
        </p>
      )}
      <Form label="Sign in" onSend={() => void action.run(prove)}>
        <div class="field">
          <label for={id}>Checkout key</label>
          <input
            id={id}
            class="secret"
            type="text"
            name="checkout-key"
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            required
            value={text}
            aria-describedby={`${id}-hint`}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <p class="hint" id={`${id}-hint`}>
            svc_ck_test_… shows test data, svc_ck_live_… shows live data. The key stays in this tab, and is
            forgotten when you close it.
          </p>
        </div>
        <Failure error={action.error} />
        <button type="submit" class="primary" aria-disabled={action.isBusy}>
          {action.isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </Form>
    </main>
  );
}
