import { asJson, booleanColumn, type Sql, secondsColumn, sql, textColumn } from '../../db/json-text.js';
import { jsonBytes, textBytes } from '../../db/sized-columns.js';
import { type FieldType, fieldsBy, inWireOrder, SESSION_FIELDS } from '../../session-fields/fields.js';
import { createdMsSql } from '../../values/ids.js';

/** The members that each statement sets for itself. `payment` is SQL for JSON. */
interface ShownState {
  status: string;
  paymentStatus: string;
  payment: string | null;
}

const AS_JSON: Record<FieldType, (column: string) => Sql> = {
  text: textColumn,
  metadata: (column) => sql(`${column}::text`),
  time: secondsColumn,
};
const FIELDS = fieldsBy('name', SESSION_FIELDS, ({ name, type }) => AS_JSON[type](`session.${name}`));

/**
 * SQL for the text that `presentCheckoutSession` returns for the row `session`, byte for byte, without link and line items.
 * A statement that moves a session uses it to write the event, so that the session's bytes never leave Postgres.
 */
export function sessionAsJson({ status, paymentStatus, payment }: ShownState): string {
  const shown = inWireOrder({
    ...FIELDS,
    id: sql(`'"' || session.id || '"'`),
    object: 'checkout.session',
    amount_subtotal: sql('session.amount_total_cents'),
    amount_total: sql('session.amount_total_cents'),
    created: sql(`${createdMsSql('session.id', 'cs_live_')} / 1000`),
    currency: 'usd',
    livemode: booleanColumn('session.livemode'),
    mode: 'payment',
    payment_method_types: ['crypto'],
    payment_status: paymentStatus,
    status,
    url: null,
    payment: payment === null ? null : sql(payment),
  });
  return asJson(shown);
}

const LONG = SESSION_FIELDS.filter(({ isLong }) => isLong).map(({ name, type }) =>
  (type === 'metadata' ? jsonBytes : textBytes)(`session.${name}`),
);

/** SQL for the approximate bytes of that text, which limit a batch. */
export const BYTES_OF_SESSION = `(1000 + ${LONG.join(' + ')})`;
