import { createPublicKey } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { findFacilitatorKey, MAX_KEY_ID_LENGTH } from '../../../shared/accounts/facilitator-keys.js';
import type { FacilitatorKey } from '../../../shared/accounts/model.js';
import type { Knex } from '../../../shared/db/knex.js';
import { Refusal } from '../../../shared/errors/refusal.js';
import { now } from '../../../shared/process/clock.js';
import { whyNoPublicKey } from '../../../shared/secrets/ed25519-point.js';

const ISSUER = 'svc-merchant';
const LEEWAY_SECONDS = 30;
const LONGEST_SECONDS = 3600;
/** A token signed with a facilitator key has some 500 characters. */
const MAX_TOKEN_LENGTH = 4096;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const RAW_KEY_BYTES = 32;

/**
 * Verifies the EdDSA JWT that an agent signs with its facilitator key. The token may be used more than once until
 * it expires. The algorithm is pinned, and a lifetime over LONGEST_SECONDS is refused.
 */
export async function verifyFacilitatorToken(db: Knex, token: string): Promise<FacilitatorKey> {
  const keyId = claimedKeyId(token);
  const key = keyId === undefined ? undefined : await findFacilitatorKey(db, keyId);
  if (key === undefined) throw invalid('its kid names no facilitator key that is registered here');
  const claims = await verifySignature(token, key);
  const { sub, iat, exp } = claims;
  if (sub !== key.keyId) throw invalid('its sub must be the key id, the same as its kid');
  if (typeof iat !== 'number' || typeof exp !== 'number') throw invalid('it needs the claims iat and exp');
  if (iat > now().getTime() / 1000 + LEEWAY_SECONDS) throw invalid('its iat lies in the future');
  if (exp - iat > LONGEST_SECONDS) throw invalid('it is valid for over an hour; two minutes are enough');
  return key;
}

function claimedKeyId(token: string): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !TOKEN.test(token)) throw invalid('it is not a JWT');
  try {
    const { kid } = decodeProtectedHeader(token);
    const isReadable = typeof kid === 'string' && kid.isWellFormed() && !kid.includes('\0');
    return isReadable && [...kid].length <= MAX_KEY_ID_LENGTH ? kid : undefined;
  } catch {
    throw invalid('it is not a JWT');
  }
}

async function verifySignature(token: string, key: FacilitatorKey): Promise<JWTPayload> {
  const publicKey = createPublicKey({ key: key.publicKey, format: 'der', type: 'spki' });
  try {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      clockTolerance: LEEWAY_SECONDS,
      currentDate: now(),
    });
    // Earlier releases registered such keys.
    const fault = whyNoPublicKey(key.publicKey.subarray(-RAW_KEY_BYTES));
    if (fault !== undefined) throw invalid(`its registered key is no public key: its bytes are ${fault}`);
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) {
      throw new Refusal(
        'token_expired',
        'The token has expired. Sign a new one; two minutes of validity are enough.',
      );
    }
    if (error instanceof errors.JWTClaimValidationFailed)
      throw invalid(`its claim ${error.claim} is not valid`);
    if (error instanceof errors.JOSEError) throw invalid('its signature does not match the registered key');
    throw error;
  }
}

function invalid(why: string): Refusal {
  return new Refusal('token_invalid', `The token cannot be accepted: ${why}.`);
}
