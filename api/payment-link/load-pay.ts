import { lazily } from '../../shared/lazily.js';

/** What reads payments knows two families of chains, which is a third of all that a web process loads. */
export const loadPay = lazily(() => import('./pay.js'));
