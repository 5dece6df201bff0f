import { type Principal, requireActiveKey } from '../../../shared/accounts/api-keys.js';
import {
  findAnswer,
  IdempotencyKeyTaken,
  type IdempotentRequest,
} from '../../../shared/accounts/idempotency.js';
import { retryLocked } from '../../../shared/db/busy.js';
import type { ConnectionShares } from '../../../shared/db/connection-shares.js';
import { Refusal } from '../../../shared/errors/refusal.js';
import type { SecretBox } from '../../../shared/secrets/secrets.js';
import { fingerprint } from '../../input/fingerprint.js';

export interface IdempotencyDeps {
  connections: ConnectionShares;
  secretBox: SecretBox;
}

/** A request that may have an idempotency key. A retry with the same key has the same path, input and scope. */
interface KeyedRequest {
  idempotencyKey: string | undefined;
  path: string;
  input: unknown;
  /** Idempotency keys are unique within an account and mode. */
  scope: { accountId: string; livemode: boolean };
  /** Undefined for `POST /v1/keys`, which has no checkout key. */
  principal: Principal | undefined;
}

export interface Answer {
  /** JSON text. A large response comes in pieces, each read when the client has taken the one before. */
  text: string | AsyncIterable<string>;
  /** Set when the response is not JSON. */
  mediaType?: string;
  /** True when this is the stored response of an earlier request. */
  isReplay: boolean;
}

const MAX_KEY_LENGTH = 255;
/** Between the conflict and the read a record can only disappear by reaching its age limit of 24 hours. */
const ATTEMPTS = 3;

/**
 * Runs `act` first, so that a new idempotency key, the usual case, costs no extra query. When `act` is refused or
 * finds the key taken, a stored response wins over the error. `act` stores its response in its own transaction.
 */
export async function answerOnce(
  { connections, secretBox }: IdempotencyDeps,
  keyed: KeyedRequest,
  act: (idempotent: IdempotentRequest | undefined) => Promise<string>,
): Promise<Answer> {
  const request = idempotentRequest(keyed);
  const db = connections.of(keyed.scope.accountId);
  for (let attempt = 1; ; attempt++) {
    try {
      return { text: await retryLocked(() => act(request)), isReplay: false };
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof IdempotencyKeyTaken)) throw error;
      const stored = request && (await findAnswer(db, request, secretBox));
      if (stored !== undefined) {
        // A revoked key gets no stored response, which may hold a secret.
        if (keyed.principal !== undefined) await requireActiveKey(db, keyed.principal);
        return { text: stored, isReplay: true };
      }
      if (error instanceof Refusal || attempt === ATTEMPTS) throw error;
    }
  }
}

function idempotentRequest({
  idempotencyKey: key = '',
  path,
  input,
  scope: { accountId, livemode },
}: KeyedRequest): IdempotentRequest | undefined {
  if (key.length > MAX_KEY_LENGTH) {
    throw new Refusal(
      'idempotency_key_invalid',
      `The Idempotency-Key must be at most ${MAX_KEY_LENGTH} characters long.`,
    );
  }
  return key === '' ? undefined : { accountId, livemode, key, path, fingerprint: fingerprint(input) };
}
