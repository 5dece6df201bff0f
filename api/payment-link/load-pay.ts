import { lazy } from '../../shared/process/lazy.js';

/** Loaded with the first payment: the code for both chain families is a third of what a web process loads. */
export const loadPay = lazy(() => import('./pay.js'));
