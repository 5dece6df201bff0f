import { type Static, Type } from 'typebox';
import { FILTERABLE_STATUSES } from '../../../shared/payables/states.js';
import {
  fieldsBy,
  SESSION_FIELDS,
  type SentFields,
  type SessionField,
} from '../../../shared/session-fields/fields.js';
import { CreatedFilter, UnixSeconds } from '../../input/created-filter.js';
import { ListParameters } from '../../input/list-query.js';
import { Metadata } from '../../input/metadata.js';
import { strictObject } from '../../input/strict-object.js';

export const MAX_UNIT_AMOUNT_CENTS = 99_999_999;

const ProductData = strictObject({
  name: Type.String({ maxLength: 250, description: 'The product name that the buyer sees.' }),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  images: Type.Optional(
    Type.Array(Type.String({ maxLength: 2048, format: 'https-url' }), {
      maxItems: 8,
      description: 'https URLs.',
    }),
  ),
});

const PriceData = strictObject({
  currency: Type.Optional(Type.Unsafe<'usd'>({ type: 'string', const: 'usd', lowerCase: true })),
  unit_amount: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_UNIT_AMOUNT_CENTS, description: 'US cents.' }),
  ),
  unit_amount_decimal: Type.Optional(
    Type.String({
      pattern: '^[0-9]+$',
      maxLength: 20,
      description: 'The same as unit_amount, as digits. Send one of the two.',
    }),
  ),
  product_data: ProductData,
});

const LineItem = strictObject({
  price_data: PriceData,
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999, description: 'Default 1.' })),
});

const expandable = <T extends string>(path: T) =>
  Type.Optional(
    Type.Array(Type.Enum([path]), { description: `${path} includes the line items in the answer.` }),
  );

/** The cast tells TypeScript the types of the schemas, which it cannot infer from the rows. */
const FIELDS = fieldsBy('name', SESSION_FIELDS, requestSchema) as {
  [Name in keyof SentFields]-?: Type.TOptional<Type.TUnsafe<NonNullable<SentFields[Name]>>>;
};

function requestSchema(field: SessionField): Type.TSchema {
  switch (field.type) {
    case 'text':
      return Type.Optional(Type.String(field.schema));
    case 'metadata':
      return Type.Optional(Metadata);
    case 'time':
      return Type.Optional(UnixSeconds(field.schema.description));
  }
}

export const CreateCheckoutSession = strictObject({
  line_items: Type.Array(LineItem, {
    minItems: 1,
    maxItems: 100,
    description: 'The items that the buyer pays for.',
  }),
  mode: Type.Optional(Type.Unsafe<'payment'>({ type: 'string', const: 'payment' })),
  ...FIELDS,
  payment_method_types: Type.Optional(Type.Array(Type.Enum(['crypto']))),
  expand: expandable('line_items'),
});
export type CreateCheckoutSession = Static<typeof CreateCheckoutSession>;

export const RetrieveCheckoutSession = strictObject({ expand: expandable('line_items') });

export const ExpireCheckoutSession = RetrieveCheckoutSession;

export const ListCheckoutSessions = strictObject({
  ...ListParameters,
  status: Type.Optional(Type.Enum([...FILTERABLE_STATUSES])),
  client_reference_id: FIELDS.client_reference_id,
  customer_email: FIELDS.customer_email,
  created: CreatedFilter,
  expand: expandable('data.line_items'),
});

export const ListLineItems = strictObject(ListParameters);
