import { Payable } from '../payables/model.js';

/** A payable that a merchant pays, to give a payment back. The table is a view without sessions. */
export class Refund extends Payable {
  static override tableName = 'refunds';
}
