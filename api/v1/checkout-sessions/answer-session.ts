import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import {
  findCheckoutSession,
  readCheckoutSessions,
  type SessionRead,
} from '../../../shared/checkout-sessions/read.js';
import { isOver } from '../../../shared/payables/states.js';
import type { Deps } from '../../deps/deps.js';
import { heavyText } from '../operation/heavy-text.js';
import { type Call, objectId } from '../operation/operation.js';

/** What is made of a session, and the same as text, where it is heavy. */
export interface SessionAnswer {
  present(session: CheckoutSession): object;
  render(session: CheckoutSession): Iterable<string>;
}

export async function answerSession(
  { ownReads, heavyAnswers }: Deps,
  call: Call,
  options: SessionRead,
  { present, render }: SessionAnswer,
): Promise<object | AsyncIterable<string>> {
  const { principal } = call;
  const asked = objectId(call, 'checkout session');
  const { id, object } = await ownReads(
    principal,
    (db) => findCheckoutSession(db, principal, asked, options),
    // One that may have been paid meanwhile is not believed to wait still.
    (found) => found.object !== undefined && isOver(found.object),
  );
  if (object !== undefined) return present(object);
  const read = async (): Promise<Iterable<string>> => {
    const [session] = await ownReads(principal, (db) => readCheckoutSessions(db, principal, [id], options));
    return session === undefined ? [] : render(session);
  };
  return heavyText(heavyAnswers, principal.accountId, [read]);
}
