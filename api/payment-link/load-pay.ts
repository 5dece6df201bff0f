import { lazily } from '../../shared/process/lazily.js';

/** Paying needs what knows two families of chains, a third of all that a web process loads: the first payment loads it. */
export const loadPay = lazily(() => import('./pay.js'));
