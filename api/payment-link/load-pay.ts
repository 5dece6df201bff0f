import { lazily } from '../../shared/process/lazily.js';

/** Loaded with the first payment: the code for both chain families is a third of what a web process loads. */
export const loadPay = lazily(() => import('./pay.js'));
