import type { NewCheckoutSession } from '../../../shared/checkout-sessions/create.js';
import { Refusal } from '../../../shared/errors/refusal.js';
import type { LineItem } from '../../../shared/payables/line-items.js';
import { fieldsBy, TEXT_FIELDS } from '../../../shared/session-fields/fields.js';
import { sentIndex } from '../../input/normalize.js';
import { type CreateCheckoutSession, MAX_UNIT_AMOUNT_CENTS } from './schema.js';

type LineItemInput = CreateCheckoutSession['line_items'][number];

const NO_TEXTS = fieldsBy('property', TEXT_FIELDS, (): string | null => null);

export function newCheckoutSession(input: CreateCheckoutSession): NewCheckoutSession {
  const texts = { ...NO_TEXTS };
  for (const { name, property } of TEXT_FIELDS) texts[property] = input[name] ?? null;
  return {
    items: input.line_items.map((item, index) =>
      newLineItem(item, `line_items[${sentIndex(input.line_items, String(index))}]`),
    ),
    metadata: input.metadata ?? {},
    expiresAtSeconds: input.expires_at,
    // The texts are spread last: V8 takes microseconds to add members to a copy of NO_TEXTS.
    ...texts,
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
