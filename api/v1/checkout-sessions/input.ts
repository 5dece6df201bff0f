import type { NewCheckoutSession } from '../../../shared/checkout-sessions/create.js';
import { Refusal } from '../../../shared/errors/refusal.js';
import type { LineItem } from '../../../shared/payables/states.js';
import { sentIndex } from '../../input/normalize.js';
import type { CreateCheckoutSession } from './schema.js';

const MAX_UNIT_AMOUNT_CENTS = 99_999_999;

type LineItemInput = CreateCheckoutSession['line_items'][number];

export function newCheckoutSession(input: CreateCheckoutSession): NewCheckoutSession {
  return {
    items: input.line_items.map((item, index) =>
      newLineItem(item, `line_items[${sentIndex(input.line_items, String(index))}]`),
    ),
    metadata: input.metadata ?? {},
    successUrl: input.success_url ?? null,
    cancelUrl: input.cancel_url ?? null,
    clientReferenceId: input.client_reference_id ?? null,
    customerEmail: input.customer_email ?? null,
    expiresAtSeconds: input.expires_at,
  };
}

function newLineItem({ price_data, quantity }: LineItemInput, param: string): Omit<LineItem, 'id'> {
  const { name, description, images } = price_data.product_data;
  return {
    name,
    description: description ?? null,
    images: images ?? [],
    unitAmountCents: unitAmountCents(price_data, `${param}[price_data]`),
    quantity: quantity ?? 1,
  };
}

function unitAmountCents(
  { unit_amount: amount, unit_amount_decimal: decimal }: LineItemInput['price_data'],
  priceData: string,
): number {
  if (decimal === undefined) {
    if (amount !== undefined) return amount;
    const param = `${priceData}[unit_amount]`;
    throw new Refusal('parameter_missing', `${param} is missing. Send the price in US cents.`, { param });
  }
  const param = `${priceData}[unit_amount_decimal]`;
  if (amount !== undefined) {
    throw new Refusal('parameters_exclusive', `Send ${priceData}[unit_amount] or ${param}, not both.`, {
      param,
    });
  }
  if (Number(decimal) > MAX_UNIT_AMOUNT_CENTS) {
    throw new Refusal('parameter_invalid_integer', `${param} must be at most ${MAX_UNIT_AMOUNT_CENTS}.`, {
      param,
    });
  }
  return Number(decimal);
}
