import { Payable } from '../payables/model.js';

/** A payable of a buyer. Its view has no refunds: nothing that reads or moves sessions can meet one. */
export class CheckoutSession extends Payable {
  static override tableName = 'checkout_sessions';
}
