import {
  findAnswer,
  IdempotencyKeyTaken,
  type IdempotentRequest,
} from '../../../shared/accounts/idempotency.js';
import { type FanOutCause, fanOutSize } from '../../../shared/webhooks/fan-out-size.js';
import type { Deps } from '../../deps/deps.js';
import { consumeRows } from '../../middleware/rate-limit.js';
import type { Call } from './operation.js';

/** Counts a request as many requests when it will write a delivery for each of many endpoints. */
type ChargeFanOut = (
  call: Call,
  cause: FanOutCause,
  idempotent: IdempotentRequest | undefined,
  /** Refuses the request by the number of deliveries, before it is charged. */
  check?: (deliveries: number) => Promise<void>,
) => Promise<void>;

export function fanOutCharger({
  connections,
  apiRateLimiter,
  secretBox,
}: Pick<Deps, 'connections' | 'apiRateLimiter' | 'secretBox'>): ChargeFanOut {
  /** An operation that is run again for the same request is charged once. */
  const charged = new WeakSet<Call>();
  return async (call, cause, idempotent, check) => {
    const db = connections.of(call.principal.accountId);
    const size = await fanOutSize(db, call.principal, cause);
    await check?.(size);
    if (size <= 1 || charged.has(call)) return;
    // A repeated request writes nothing.
    if (idempotent !== undefined && (await findAnswer(db, idempotent, secretBox)) !== undefined)
      throw new IdempotencyKeyTaken();
    await consumeRows(apiRateLimiter, call.principal, size);
    charged.add(call);
  };
}
