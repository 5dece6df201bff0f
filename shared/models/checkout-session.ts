import { Model, type RelationMappings } from 'objection';
import type { LineItem, SessionStatus } from '../domain/checkout-session.js';
import { Payment } from './payment.js';

export class CheckoutSession extends Model {
  static override tableName = 'checkout_sessions';
  static override jsonAttributes = ['lineItems', 'metadata'];

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare status: SessionStatus;
  declare amountTotalCents: number;
  /** Left out of reads that do not show them. */
  declare lineItems?: LineItem[];
  declare metadata: Record<string, string>;
  declare successUrl: string | null;
  declare cancelUrl: string | null;
  declare clientReferenceId: string | null;
  declare customerEmail: string | null;
  declare expiresAt: Date;
  /** The payment that holds a processing session, or that paid a complete one. */
  declare paymentId: string | null;
  declare payment?: Payment | null;

  static override get relationMappings(): RelationMappings {
    return {
      payment: {
        relation: Model.BelongsToOneRelation,
        modelClass: Payment,
        join: { from: 'checkout_sessions.paymentId', to: 'payments.id' },
      },
    };
  }
}
