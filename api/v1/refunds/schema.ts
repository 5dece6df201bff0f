import { type Static, Type } from 'typebox';
import { REFUND_STATUSES } from '../../../shared/payables/refund-statuses.js';
import { REFUND_REASONS } from '../../../shared/payables/refund-terms.js';
import { MAX_TOTAL_CENTS } from '../../../shared/values/money.js';
import { CreatedFilter, UnixSeconds } from '../../input/created-filter.js';
import { ListParameters } from '../../input/list-query.js';
import { Metadata } from '../../input/metadata.js';
import { strictObject } from '../../input/strict-object.js';

/** Stripe's names for the payment are accepted as aliases. */
const paymentNames = (description: string) => ({
  payment: Type.Optional(Type.String({ description })),
  payment_intent: Type.Optional(Type.String({ description: 'The same as payment. Send one of them.' })),
  charge: Type.Optional(Type.String({ description: 'The same as payment. Send one of them.' })),
});

export const CreateRefund = strictObject({
  ...paymentNames('The payment to give back, pay_….'),
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_TOTAL_CENTS,
      description: 'US cents. Default what is left of the payment.',
    }),
  ),
  reason: Type.Optional(Type.Enum([...REFUND_REASONS])),
  metadata: Type.Optional(Metadata),
  expires_at: Type.Optional(
    UnixSeconds('Unix seconds, 30 minutes to 30 days from now. Default 7 days from now.'),
  ),
});
export type CreateRefund = Static<typeof CreateRefund>;

export const CancelRefund = strictObject({});

const Filters = {
  ...paymentNames('Only the refunds of this payment.'),
  status: Type.Optional(Type.Enum([...REFUND_STATUSES])),
  created: CreatedFilter,
};

export const ListRefunds = strictObject({ ...ListParameters, ...Filters });

/** A CSV export contains the complete list and takes no cursor. */
export const TableRefunds = strictObject(Filters);
export type TableRefunds = Static<typeof TableRefunds>;
