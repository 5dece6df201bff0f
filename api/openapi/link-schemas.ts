import { Type } from 'typebox';
import { PAYABLE_STATUSES } from '../../shared/payables/states.js';
import { fieldsBy, PUBLIC_FIELDS } from '../../shared/session-fields/fields.js';
import { OFFER_RECEIPT } from '../../shared/x402/wire.js';
import { strictObject } from '../input/strict-object.js';
import {
  Caip2,
  Cents,
  nullable,
  PaymentStatus,
  REFUND,
  ref,
  Timestamp,
  TokenAmount,
  Uri,
} from './resource-schemas.js';

/** Response schemas of payment links in /openapi.json. Specs validate responses against them. */
const Merchant = strictObject({
  name: Type.String(),
  logo_url: nullable(Uri),
  brand_color: nullable(Type.String()),
  support_email: nullable(Type.String()),
});
const { metadata: _, ...PUBLIC_REFUND } = REFUND;

const signed = (says: string) => ({
  format: Type.Literal('jws'),
  signature: Type.String({
    pattern: '^[\\w-]+\\.[\\w-]+\\.[\\w-]+$',
    description: `A JWS under a key of /.well-known/jwks.json. It says ${says}.`,
  }),
});

export const LINK_SCHEMAS = {
  PaymentRequired: strictObject({
    x402Version: Type.Literal(2),
    error: Type.String({
      description:
        '`Payment required`, or what to change about the payment that failed; or that a payment may have been taken, with its id.',
    }),
    code: Type.Optional(
      Type.String({
        description:
          'When a payment failed. `outcome_unknown`: it may have been taken, so ask the merchant before you pay again. Every other code: it moved no money, unless `error` says that it may have been taken.',
      }),
    ),
    resource: strictObject({
      url: Uri,
      description: Type.String({
        description: 'To whom, for what, how much, until when, and what a stock x402 client has to be told.',
      }),
      mimeType: Type.String(),
      serviceName: Type.Optional(
        Type.String({
          maxLength: 32,
          pattern: '^[ -~]+$',
          description: "The merchant's name without accents, where it can be written in ASCII.",
        }),
      ),
      tags: Type.Array(Type.String(), {
        maxItems: 5,
        description: '`checkout` or `refund`; in test mode `test` too.',
      }),
      iconUrl: Type.Optional(Type.String({ format: 'uri', description: "The merchant's logo." })),
    }),
    accepts: Type.Array(ref('PaymentRequirements'), {
      description:
        'Empty only when nothing fits `network` and `token` of the query; `error` then names the networks that are offered.',
    }),
    extensions: strictObject({
      'payment-identifier': Type.Object(
        {},
        {
          description:
            'A payment sent with an `info.id` may be sent again with it whenever an answer was lost: it is answered as the first time.',
        },
      ),
      [OFFER_RECEIPT]: Type.Optional(
        Type.Object(
          {
            info: strictObject({
              offers: Type.Array(
                strictObject({
                  ...signed('what the entry asks for at this link, and until when'),
                  acceptIndex: Type.Integer({ minimum: 0, description: 'Into `accepts`.' }),
                }),
              ),
            }),
          },
          { description: 'Entries of `accepts`, signed: what this link asks for, and until when.' },
        ),
      ),
    }),
  }),
  PaymentRequirements: strictObject({
    scheme: Type.Literal('exact'),
    network: Caip2,
    amount: TokenAmount,
    asset: Type.String({ description: 'Token contract or mint.' }),
    payTo: Type.String(),
    maxTimeoutSeconds: Type.Integer({ minimum: 1 }),
    extra: Type.Object(
      {},
      {
        description:
          'EVM: the EIP-712 domain, name and version, and its primaryType where the header has room. Solana: feePayer, and the memo to sign.',
      },
    ),
  }),
  X402Receipt: strictObject({
    status: Type.Literal('complete'),
    session: Type.Optional(ref('PublicCheckoutSession')),
    refund: Type.Optional(ref('PublicRefund')),
    receipt: Type.Optional(ref('SignedReceipt')),
  }),
  SignedReceipt: strictObject(signed('who paid which link, when and how')),
  X402Processing: strictObject({
    status: Type.Literal('processing'),
    message: Type.String(),
    url: Type.String({
      format: 'uri',
      description: 'Send GET without a payment header until it answers 200.',
    }),
  }),
  BuyerError: strictObject({
    error: strictObject({
      code: Type.String(),
      message: Type.String({ description: 'A sentence that says what to change.' }),
    }),
  }),
  PublicCheckoutSession: strictObject({
    id: Type.String({ pattern: '^cs_(live|test)_[A-Za-z0-9]+$' }),
    status: Type.Enum([...PAYABLE_STATUSES]),
    payment_status: PaymentStatus,
    livemode: Type.Boolean(),
    merchant: Merchant,
    line_items: Type.Array(
      strictObject({
        name: Type.String(),
        description: nullable(Type.String()),
        images: Type.Array(Type.String()),
        unit_amount: Cents,
        quantity: Type.Integer({ minimum: 1 }),
        amount_total: Cents,
      }),
    ),
    amount_total: Cents,
    currency: Type.Literal('usd'),
    expires_at: Timestamp,
    ...fieldsBy('name', PUBLIC_FIELDS, () => nullable(Type.String())),
    accepts: strictObject({ evm: Type.Boolean(), svm: Type.Boolean() }),
    payment: nullable(ref('Payment')),
  }),
  PublicRefund: strictObject({ ...PUBLIC_REFUND, merchant: Merchant }),
  LinkStatus: strictObject({
    status: Type.Enum([...PAYABLE_STATUSES]),
    payment_status: PaymentStatus,
    revision: Type.String({ description: 'Changes when the page would look different.' }),
    now: Timestamp,
    expires_at: Timestamp,
  }),
  JsonWebKeySet: strictObject({
    keys: Type.Array(
      strictObject({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        x: Type.String(),
        kid: Type.String(),
        alg: Type.Literal('EdDSA'),
        use: Type.Literal('sig'),
      }),
    ),
  }),
};

export type LinkSchemaName = keyof typeof LINK_SCHEMAS;
