import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { jwtVerify } from 'jose';
import { NETWORKS } from '../../../shared/chains/networks.js';
import { now } from '../../../shared/process/clock.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import type { FacilitatorAnswer } from './dial.js';
import type { Movement } from './judgement.js';
import type { FacilitatorRules } from './rules.js';

export type EndpointName = 'supported' | 'verify' | 'settle';
export type Endpoint = (body: unknown, headers: IncomingHttpHeaders) => Promise<FacilitatorAnswer>;

export interface EndpointOptions {
  feePayers: readonly string[];
  /** CAIP-2 ids; every network of the token table by default. */
  networks?: readonly string[];
  /** Requires a JWT of this key on `/verify` and `/settle`. */
  tokens?: { keyId: string; publicKey: KeyObject };
  /** Runs before the answer, so that a fake chain has the movement first. */
  onSettled?: (movement: Movement) => void | Promise<void>;
}

const UNAUTHORIZED: FacilitatorAnswer = { status: 401, body: { error: 'unauthorized' } };

/** An honest facilitator's answers. The body is checked before the token, as the specification says. */
export function createEndpoints(
  rules: FacilitatorRules,
  options: EndpointOptions,
): Record<EndpointName, Endpoint> {
  return {
    supported: async () => ({ status: 200, body: listKinds(options) }),
    verify: async (body, headers) => {
      const request = readRequest(body);
      if (typeof request === 'string') {
        return { status: 400, body: { isValid: false, invalidReason: request } };
      }
      if (!(await isAuthorized(headers, options.tokens))) return UNAUTHORIZED;
      const { reason, payer } = await rules.verify(request);
      const verdict = reason === undefined ? { isValid: true } : { isValid: false, invalidReason: reason };
      return { status: 200, body: { ...verdict, payer } };
    },
    settle: async (body, headers) => {
      const request = readRequest(body);
      if (typeof request === 'string') return failure(400, request, '');
      if (!(await isAuthorized(headers, options.tokens))) return UNAUTHORIZED;
      const { network } = request.paymentRequirements;
      // The library checks its cache of Solana messages before it verifies.
      if (network.startsWith('solana:') && rules.isUsed(request)) {
        return failure(200, usedReason(network), network);
      }
      const { reason, payer } = await rules.verify(request);
      if (reason !== undefined) return failure(200, reason, network, payer);
      const movement = rules.settle(request);
      if (movement === 'used') return failure(200, usedReason(network), network, payer);
      await options.onSettled?.(movement);
      const { transaction } = movement;
      return { status: 200, body: { success: true, transaction, network, payer } };
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
  tokens: EndpointOptions['tokens'],
): Promise<boolean> {
  if (tokens === undefined) return true;
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const claims = {
    algorithms: ['EdDSA'],
    issuer: 'svc-merchant',
    subject: tokens.keyId,
    requiredClaims: ['iat', 'exp', 'jti'],
    currentDate: now(),
  };
  return await jwtVerify(token, tokens.publicKey, claims).then(
    ({ protectedHeader }) => protectedHeader.kid === tokens.keyId,
    () => false,
  );
}

function failure(status: number, errorReason: string, network: string, payer = ''): FacilitatorAnswer {
  return { status, body: { success: false, errorReason, transaction: '', network, payer } };
}

function usedReason(network: string): string {
  return network.startsWith('eip155:') ? 'invalid_exact_evm_nonce_already_used' : 'duplicate_settlement';
}

function listKinds({ networks, feePayers }: EndpointOptions): object {
  const listed = NETWORKS.filter(({ caip2 }) => networks?.includes(caip2) ?? true);
  return {
    kinds: listed.map(({ caip2, family }) => ({
      x402Version: 2,
      scheme: 'exact',
      network: caip2,
      ...(family === 'svm' ? { extra: { feePayer: feePayers[0] } } : {}),
    })),
    extensions: [],
    signers: { 'solana:*': feePayers },
  };
}
