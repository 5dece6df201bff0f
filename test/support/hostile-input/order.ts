import { formText } from '../api-client.js';
import { MARK } from '../fuzz/hostile-values.js';

export const KEYS = '/v1/keys';
export const JSON_TYPE = { 'Content-Type': 'application/json' };
export const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };
export const HOOK_URL = 'https://shop.example/hooks';

export const coffee = { price_data: { unit_amount: 450, product_data: { name: `Coffee ${MARK}` } } };
export const minimal = { line_items: [coffee], customer_email: `${MARK}@mail.example` };
export const COFFEE_FORM = formText({ line_items: [coffee] });
export const JSON_ITEMS = JSON.stringify(minimal.line_items);
