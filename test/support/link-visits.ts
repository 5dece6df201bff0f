import type { Response } from 'supertest';
import { answers, failsToSettle, refuses } from '../../lab/world/facilitator/dial.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { newId } from '../../shared/values/ids.js';
import type { Checkout } from './checkout.js';

const PAGE = { Accept: 'text/html' };

/** A visit for each answer that a link can give, for rules that hold for all of them. Each visit has a new link. */
export function linkVisits(checkout: Checkout): Record<string, () => PromiseLike<Response>> {
  const build = async (overrides?: Partial<CheckoutSession>): Promise<string> =>
    (await checkout.buildSession(overrides)).id;
  const visit = (id: string, headers?: Record<string, string>) => checkout.visit(id, headers);
  /** Signs for another link of the same amount, since not every link can be asked for its terms. */
  const pay = async (id: string, others: Record<string, string> = {}): Promise<Response> => {
    const { header } = await checkout.sign(await build());
    return await visit(id, { 'PAYMENT-SIGNATURE': header, ...others });
  };
  const payRefused = async (others?: Record<string, string>): Promise<Response> => {
    checkout.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    return await pay(await build(), others);
  };
  return {
    '200 complete': async () => await pay(await build()),
    '200 page': async () => await visit(await build(), PAGE),
    '202 processing': async () => await visit(await build({ status: 'processing' })),
    '400 invalid_payment_payload': async () => await visit(await build(), { 'X-PAYMENT': 'none!' }),
    '402': async () => await visit(await build()),
    '402 asked': async () => {
      checkout.facilitator.verify.next(refuses('asked'));
      return await pay(await build());
    },
    '402 kyt_risk_detected': () => payRefused(),
    '402 page': () => payRefused(PAGE),
    '404 resource_missing': () => visit(newId('cs_test_')),
    '404 page': () => visit(newId('cs_test_'), PAGE),
    '409 processing': async () => await pay(await build({ status: 'processing' })),
    '409 session_already_paid': async () => {
      const id = await build();
      const { header } = await checkout.sign(id);
      await visit(id, { 'PAYMENT-SIGNATURE': header });
      return await visit(id, { 'PAYMENT-SIGNATURE': header });
    },
    '410 session_expired': async () => await visit(await build({ status: 'expired' })),
    '410 page': async () => await visit(await build({ status: 'expired' }), PAGE),
    '503 payment_service_unavailable': async () => {
      checkout.facilitator.verify.next(answers(500));
      return await pay(await build());
    },
  };
}
