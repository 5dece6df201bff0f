import assert from 'node:assert/strict';
import Stripe from 'stripe';

/** The stock SDK as a merchant: nothing about it is changed but where it calls. */
export function sdk(key: string, port: number, config: Stripe.StripeConfig = {}): Stripe {
  return new Stripe(key, { host: '127.0.0.1', port, protocol: 'http', telemetry: false, ...config });
}

export const coffee = { price_data: { currency: 'usd', unit_amount: 450, product_data: { name: 'Coffee' } } };

type Caught = InstanceType<typeof Stripe.errors.StripeError>;

export async function caught(work: Promise<unknown>): Promise<Caught> {
  const error = await work.then(
    () => assert.fail('it should have been refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Stripe.errors.StripeError, String(error));
  return error;
}

/** What an integrator reads off an error; the request id is there on every one. */
export function facts(error: Caught): object {
  assert.match(String(error.requestId), /^req_[A-Za-z0-9]+$/);
  assert.match(error.message, /^\S+ \S+ .*\.$/);
  const { type, code, param, statusCode } = error;
  return { type, code, param, statusCode };
}
