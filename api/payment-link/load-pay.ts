import { lazy } from '../../shared/process/lazy.js';

/** The module is loaded with the first payment: the code for both chain families is a third of what a web process loads. */
export const loadPay = lazy(() => import('./pay.js'));
