import { Payable } from '../payables/model.js';

/** A payable that a buyer pays. The table is a view without refunds, so no query for sessions can find a refund. */
export class CheckoutSession extends Payable {
  static override tableName = 'checkout_sessions';
}
