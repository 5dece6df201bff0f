import type { Knex } from '../../shared/db/knex.js';
import { findUncertainPayment } from '../../shared/payments/find.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { now } from '../../shared/process/clock.js';
import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { describeFailure, type Failure, outcomeUnknown } from '../../shared/x402/failure-codes.js';

/** `paymentId`: of the payment that failed, when its outcome is unknown. */
export type LinkFailure = Failure & { paymentId?: string };

/** How long a 402 names a failure that is certain. */
const FAILURE_SHOWN_MS = 600_000;

/** The failure that the buyer has to know of: of a payment that may have been taken, or of the last one. */
export async function earlierFailure(db: Knex, session: LinkedPayable): Promise<LinkFailure | undefined> {
  const { failureCode, failureAt } = session;
  if (failureCode === OUTCOME_UNKNOWN) return await uncertainFailure(db, session);
  if (failureCode === null || failureAt === null) return undefined;
  return now().getTime() - failureAt.getTime() > FAILURE_SHOWN_MS ? undefined : describeFailure(failureCode);
}

/** Undefined unless a payment of the session failed and its outcome is unknown. */
export async function uncertainFailure(db: Knex, session: LinkedPayable): Promise<LinkFailure | undefined> {
  if (session.failureCode !== OUTCOME_UNKNOWN) return undefined;
  return failureOf({ id: (await findUncertainPayment(db, session.id))?.id, failureCode: OUTCOME_UNKNOWN });
}

export function failureOf({
  id,
  failureCode,
}: {
  id?: string | undefined;
  failureCode: string | null;
}): LinkFailure {
  const failure = describeFailure(failureCode ?? 'payment_failed');
  if (!failure.isUncertain) return failure;
  return { ...failure, message: outcomeUnknown(id), ...(id !== undefined && { paymentId: id }) };
}
