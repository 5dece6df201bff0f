import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { jwtVerify } from 'jose';
import { now } from '../../../shared/process/clock.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import type { FacilitatorAnswer } from './dial.js';
import type { Rules } from './rules.js';

export type EndpointName = 'supported' | 'verify' | 'settle';
/** `onBroadcast` is called when a settlement's transaction is sent. */
type Endpoint = (
  body: unknown,
  headers: IncomingHttpHeaders,
  onBroadcast: () => void,
) => Promise<FacilitatorAnswer>;

/** Callers must send a JWT of this key to `/verify` and `/settle`. */
export interface ExpectedToken {
  keyId: string;
  publicKey: KeyObject;
  onSupportedToo?: boolean;
}

const UNAUTHORIZED: FacilitatorAnswer = { status: 401, body: { error: 'unauthorized' } };

/** An honest facilitator's answers. The body is checked before the token, as the specification says. */
export function createEndpoints(
  rules: () => Rules,
  token: ExpectedToken | undefined,
): Record<EndpointName, Endpoint> {
  return {
    async supported(_body, headers) {
      if (token?.onSupportedToo && !(await isAuthorized(headers, token))) return UNAUTHORIZED;
      return { status: 200, body: rules().supported() };
    },
    async verify(body, headers) {
      const request = readRequest(body);
      if (typeof request === 'string') {
        return { status: 400, body: { isValid: false, invalidReason: request } };
      }
      if (!(await isAuthorized(headers, token))) return UNAUTHORIZED;
      return { status: 200, body: await rules().verify(request) };
    },
    async settle(body, headers, onBroadcast) {
      const request = readRequest(body);
      if (typeof request === 'string') {
        const refusal = { success: false, errorReason: request, transaction: '', network: '', payer: '' };
        return { status: 400, body: refusal };
      }
      if (!(await isAuthorized(headers, token))) return UNAUTHORIZED;
      return { status: 200, body: await rules().settle(request, onBroadcast) };
    },
  };
}

/** Parses the request, or names the reason for refusing it. */
export function readRequest(body: unknown): FacilitatorRequest | string {
  const request = body as Partial<FacilitatorRequest> | null | undefined;
  const { x402Version, paymentPayload, paymentRequirements } = request ?? {};
  if (x402Version !== undefined && x402Version !== 2) return 'invalid_x402_version';
  if (!isFilled(paymentPayload, ['x402Version', 'accepted', 'payload'])) return 'invalid_payload';
  if (!isFilled(paymentPayload?.payload, [])) return 'invalid_payload';
  const fields = ['scheme', 'network', 'asset', 'amount', 'payTo', 'maxTimeoutSeconds', 'extra'];
  if (!isFilled(paymentRequirements, fields)) return 'invalid_payment_requirements';
  return request as FacilitatorRequest;
}

function isFilled(value: unknown, fields: string[]): boolean {
  return typeof value === 'object' && value !== null && fields.every((field) => field in value);
}

async function isAuthorized(
  headers: IncomingHttpHeaders,
  expected: ExpectedToken | undefined,
): Promise<boolean> {
  if (expected === undefined) return true;
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const claims = {
    algorithms: ['EdDSA'],
    issuer: 'svc-merchant',
    subject: expected.keyId,
    requiredClaims: ['iat', 'exp', 'jti'],
    currentDate: now(),
  };
  return await jwtVerify(token, expected.publicKey, claims).then(
    ({ protectedHeader }) => protectedHeader.kid === expected.keyId,
    () => false,
  );
}
