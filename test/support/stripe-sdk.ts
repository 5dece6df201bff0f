import assert from 'node:assert/strict';
import Stripe from 'stripe';

/** The stock SDK as a merchant uses it, configured with another host only. */
export function sdk(key: string, port: number, config: Stripe.StripeConfig = {}): Stripe {
  return new Stripe(key, { host: '127.0.0.1', port, protocol: 'http', telemetry: false, ...config });
}

export const coffee = { price_data: { currency: 'usd', unit_amount: 450, product_data: { name: 'Coffee' } } };

type Caught = InstanceType<typeof Stripe.errors.StripeError>;

export async function caught(work: Promise<unknown>): Promise<Caught> {
  const error = await work.then(
    () => assert.fail('the request was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Stripe.errors.StripeError, String(error));
  return error;
}

interface Expected {
  type?:
    | 'StripeInvalidRequestError'
    | 'StripeAuthenticationError'
    | 'StripeIdempotencyError'
    | 'StripeRateLimitError';
  code: string;
  param?: string;
  statusCode?: number;
}

/** Asserts that the SDK throws an error with these fields, which integrators read, and with a request id. */
export async function assertThrows(
  work: Promise<unknown>,
  { type = 'StripeInvalidRequestError', code, param, statusCode = 400 }: Expected,
): Promise<Caught> {
  const error = await caught(work);
  assert.match(String(error.requestId), /^req_[A-Za-z0-9]+$/);
  assert.match(error.message, /^\S+ \S+ .*\.$/);
  assert.ok(error instanceof Stripe.errors[type], error.type);
  assert.deepEqual([error.type, error.code, error.param, error.statusCode], [type, code, param, statusCode]);
  return error;
}
