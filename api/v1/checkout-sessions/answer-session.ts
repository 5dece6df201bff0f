import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import {
  findCheckoutSession,
  readCheckoutSessions,
  type SessionRead,
} from '../../../shared/checkout-sessions/read.js';
import { isFinal } from '../../../shared/payables/states.js';
import type { Deps } from '../../deps/deps.js';
import { heavyText } from '../operation/heavy-text.js';
import { type Call, objectId } from '../operation/operation.js';

/** Renders the response for a session: as an object, or as pieces of text when the session is large. */
export interface SessionAnswer {
  present(session: CheckoutSession): object;
  render(session: CheckoutSession): Iterable<string>;
}

export async function answerSession(
  { accountReads, heavyAnswers }: Deps,
  call: Call,
  options: SessionRead,
  { present, render }: SessionAnswer,
): Promise<object | AsyncIterable<string>> {
  const { principal } = call;
  const requestedId = objectId(call, 'checkout session');
  const { id, object } = await accountReads(
    principal,
    (db) => findCheckoutSession(db, principal, requestedId, options),
    // A replica may lag behind: only a final status is trusted, any other is read again from the primary.
    (found) => found.object !== undefined && isFinal(found.object),
  );
  if (object !== undefined) return present(object);
  const read = async (): Promise<Iterable<string>> => {
    const [session] = await accountReads(
      principal,
      (db) => readCheckoutSessions(db, principal, [id], options),
      ([found]) => found !== undefined && isFinal(found),
    );
    return session === undefined ? [] : render(session);
  };
  return heavyText(heavyAnswers, principal.accountId, [read]);
}
