import type { Request, RequestHandler } from 'express';
import type { Knex } from '../../shared/db/knex.js';
import { Refusal } from '../../shared/domain/errors.js';
import type { SecretBox } from '../../shared/secrets.js';
import { requireKeyThatCounts } from '../../shared/services/access/api-keys.js';
import { findAnswer, type IdempotentRequest, KeyTaken } from '../../shared/services/access/idempotency.js';
import { fingerprint } from '../input/fingerprint.js';
import type { InputParser } from '../input/input-parser.js';
import { sendJson } from '../send-json.js';
import { bodyOf, requireNoQuery } from './parse-body.js';

export interface IdempotencyDeps {
  db: Knex;
  secretBox: SecretBox;
}

interface Scope {
  accountId: string;
  livemode: boolean;
}

interface PostRoute<T> {
  parse: InputParser<T>;
  /** Whose keys these are. */
  scope(req: Request, input: T): Scope;
  /** Does the work and gives the rendered answer, kept in the work's own transaction when there is a key. */
  act(req: Request, input: T, idempotent: IdempotentRequest | undefined): Promise<string>;
}

const MAX_KEY_LENGTH = 255;
/** A record can vanish between "taken" and "read" only by turning 24 hours old; once more is then enough. */
const ATTEMPTS = 3;

/**
 * A POST under /v1. The work is tried first: a new key, the usual case, costs nothing extra. When the work is
 * refused, for whatever reason of time or state, or finds the key taken, a kept answer wins over the refusal.
 */
export function post<T>({ db, secretBox }: IdempotencyDeps, route: PostRoute<T>): RequestHandler {
  return async (req, res) => {
    requireNoQuery(req);
    const input = route.parse(bodyOf(req));
    const key = idempotencyKey(req);
    const request = key === undefined ? undefined : describe(req, key, input, route.scope(req, input));
    for (let attempt = 1; ; attempt++) {
      try {
        sendJson(res, await route.act(req, input, request));
        return;
      } catch (error) {
        if (!(error instanceof Refusal || error instanceof KeyTaken)) throw error;
        const kept = request && (await findAnswer(db, request, secretBox));
        if (kept !== undefined) {
          // A revoked key gets nothing, least of all a secret that was answered before.
          if (req.principal !== undefined) await requireKeyThatCounts(db, req.principal);
          res.setHeader('Idempotent-Replayed', 'true');
          sendJson(res, kept);
          return;
        }
        if (error instanceof Refusal || attempt === ATTEMPTS) throw error;
      }
    }
  };
}

function idempotencyKey(req: Request): string | undefined {
  const key = req.get('Idempotency-Key');
  if (key !== undefined && key.length > MAX_KEY_LENGTH) {
    throw new Refusal(
      'idempotency_key_invalid',
      `The Idempotency-Key must be at most ${MAX_KEY_LENGTH} characters long.`,
    );
  }
  return key === '' ? undefined : key;
}

function describe(req: Request, key: string, input: unknown, scope: Scope): IdempotentRequest {
  const path = (req.baseUrl + req.path).replace(/\/+$/, '');
  return { ...scope, key, path, fingerprint: fingerprint(input) };
}
