import { Payable } from '../payables/model.js';

/** A payable of a merchant, which gives a payment back. Its view has no sessions. */
export class Refund extends Payable {
  static override tableName = 'refunds';
}
