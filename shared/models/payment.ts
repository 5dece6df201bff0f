import { Model } from 'objection';
import type { Channel, PaymentStatus, Token } from '../domain/payment.js';

export class Payment extends Model {
  static override tableName = 'payments';

  declare id: string;
  declare checkoutSessionId: string;
  declare accountId: string;
  declare livemode: boolean;
  declare status: PaymentStatus;
  declare amountCents: number;
  declare token: Token;
  /** In the token's smallest unit; text, since it may exceed 2^53. */
  declare tokenAmount: string;
  declare tokenDecimals: number;
  /** CAIP-2. */
  declare network: string;
  declare payer: string | null;
  declare payTo: string;
  declare channel: Channel;
  declare transaction: string | null;
  declare settledAt: Date | null;
}
