import { type Principal, requireKeyThatCounts } from '../../../shared/accounts/api-keys.js';
import { findAnswer, type IdempotentRequest, KeyTaken } from '../../../shared/accounts/idempotency.js';
import type { Knex } from '../../../shared/db/knex.js';
import { Refusal } from '../../../shared/errors/refusal.js';
import type { SecretBox } from '../../../shared/secrets/secrets.js';
import { fingerprint } from '../../input/fingerprint.js';

export interface RepetitionDeps {
  db: Knex;
  secretBox: SecretBox;
}

/** What a repetition has to have in common with what was asked first. */
interface Repeatable {
  idempotencyKey: string | undefined;
  path: string;
  input: unknown;
  /** Whose idempotency keys these are. */
  scope: { accountId: string; livemode: boolean };
  /** The checkout key that asks; undefined where something else opens the way. */
  principal: Principal | undefined;
}

export interface Answer {
  /** JSON; of what is heavy piece by piece, each read when the one before it was taken. */
  text: string | AsyncIterable<string>;
  /** When it is no JSON. */
  mediaType?: string;
  /** Whether it is the answer to an earlier asking, and nothing was done this time. */
  isReplay: boolean;
}

const MAX_KEY_LENGTH = 255;
/** A record can vanish between "taken" and "read" only by turning 24 hours old; once more is then enough. */
const ATTEMPTS = 3;

/**
 * The work is tried first: a new idempotency key, the usual case, costs nothing extra. When the work is refused, for
 * whatever reason of time or state, or finds the key taken, a kept answer wins over the refusal. `act` keeps what it
 * answers in the work's own transaction.
 */
export async function answerOnce(
  { db, secretBox }: RepetitionDeps,
  asked: Repeatable,
  act: (idempotent: IdempotentRequest | undefined) => Promise<string>,
): Promise<Answer> {
  const request = idempotentRequest(asked);
  for (let attempt = 1; ; attempt++) {
    try {
      return { text: await act(request), isReplay: false };
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof KeyTaken)) throw error;
      const kept = request && (await findAnswer(db, request, secretBox));
      if (kept !== undefined) {
        // A revoked key gets nothing, least of all a secret that was answered before.
        if (asked.principal !== undefined) await requireKeyThatCounts(db, asked.principal);
        return { text: kept, isReplay: true };
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
}: Repeatable): IdempotentRequest | undefined {
  if (key.length > MAX_KEY_LENGTH) {
    throw new Refusal(
      'idempotency_key_invalid',
      `The Idempotency-Key must be at most ${MAX_KEY_LENGTH} characters long.`,
    );
  }
  return key === '' ? undefined : { accountId, livemode, key, path, fingerprint: fingerprint(input) };
}
