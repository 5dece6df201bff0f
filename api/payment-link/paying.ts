import { lazily } from '../../shared/lazily.js';

/** What reads payments knows two families of chains, which is a third of all that a web process loads. */
export const paying = lazily(async () => {
  const { acceptPayment } = await import('./accept-payment.js');
  const { isSamePayment } = await import('../../shared/x402/match-payment.js');
  return { acceptPayment, isSamePayment };
});
