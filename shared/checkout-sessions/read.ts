import { accountList } from '../accounts/account-list.js';
import { type Principal, requireActiveKey } from '../accounts/api-keys.js';
import { batchReads } from '../db/batch-reads.js';
import type { Knex } from '../db/knex.js';
import { type Filter, type IdRange, idRange, type Page, type PageRequest } from '../db/listing.js';
import { modelColumns, type Row } from '../db/model-columns.js';
import { readSized } from '../db/page.js';
import { type Sized, sizedColumns } from '../db/sized-columns.js';
import { runStatement } from '../db/statement.js';
import { noSuch, Refusal } from '../errors/refusal.js';
import { ANSWER_PART_BYTES } from '../limits/bounds.js';
import type { PayableStatus } from '../payables/states.js';
import { Payment } from '../payments/model.js';
import { SHOWN_PAYMENT_FIELDS } from '../payments/present.js';
import { SESSION_FIELDS } from '../session-fields/fields.js';
import { CheckoutSession } from './model.js';
import { SHOWN_SESSION_FIELDS } from './present.js';

const FIELDS = [...SHOWN_SESSION_FIELDS, 'paymentId'] as const satisfies (keyof CheckoutSession)[];
const LONG = SESSION_FIELDS.filter(({ isLong }) => isLong).map(({ property }) => property);
const payment = modelColumns(Payment, 'payment', SHOWN_PAYMENT_FIELDS);

/** Line items are long, so a read includes them only on request. */
export interface SessionRead {
  lineItems: boolean;
}

const READS = {
  short: readsOf('session', FIELDS, LONG),
  long: readsOf('session_with_items', [...FIELDS, 'lineItems'], [...LONG, 'lineItems']),
};

function readsOf(
  name: string,
  fields: readonly (keyof CheckoutSession)[],
  long: readonly (keyof CheckoutSession)[],
) {
  const session = sizedColumns(CheckoutSession, 'session', fields, long, {
    lineItems: "(session.summary->>'characters')::int",
  });
  const columns = (share: number | string): string => `SELECT ${session.sql(share)}, ${payment.sql}`;
  // OFFSET 0 makes Postgres look up each payment by its id. Otherwise a plan made while the table is small scans the table
  // for as long as the connection lives.
  const joins = `${session.join}
    LEFT JOIN LATERAL (SELECT * FROM payments WHERE id = session.payment_id OFFSET 0) payment ON true`;
  const read = (row: Row): CheckoutSession =>
    Object.assign(session.read(row), { payment: row['payment.id'] === null ? null : payment.read(row) });
  const one = {
    name,
    text: `${columns('$5')}, requested.position
      FROM unnest($1::text[], $2::text[], $3::boolean[], $4::text[]) WITH ORDINALITY
        AS requested (id, account_id, livemode, key_id, position)
      CROSS JOIN LATERAL (
        SELECT * FROM checkout_sessions
        WHERE id = requested.id AND account_id = requested.account_id AND livemode = requested.livemode OFFSET 0
      ) session
      ${joins}
      WHERE (SELECT revoked_at IS NULL FROM api_keys WHERE id = requested.key_id)`,
  };
  const alias = 'session';
  const list = accountList<CheckoutSession>({
    name,
    what: 'checkout session',
    table: 'checkout_sessions',
    alias,
    select: (share) => `${columns(share)} FROM checkout_sessions session ${joins}`,
    read,
  });
  const find = batchReads(async (db, requested: readonly RequestedSession[]) => {
    const share = Math.floor(ANSWER_PART_BYTES / requested.length);
    const rows = await runStatement<Row>(db, one, [
      requested.map(({ id }) => id),
      requested.map(({ accountId }) => accountId),
      requested.map(({ livemode }) => livemode),
      requested.map(({ keyId }) => keyId),
      share,
    ]);
    const found = new Map(rows.map((row) => [Number(row.position), readSized({ alias, read }, row, share)]));
    return requested.map((_, index) => found.get(index + 1));
  });
  return { find, list };
}

type RequestedSession = Principal & { id: string };

export async function findCheckoutSession(
  db: Knex,
  principal: Principal,
  id: string,
  { lineItems }: SessionRead,
): Promise<Sized<CheckoutSession>> {
  const { find } = lineItems ? READS.long : READS.short;
  const session = await find(db, { ...principal, id });
  if (session === undefined) throw await whyNoSession(db, principal, id);
  return session;
}

/** Reads sessions that a page left out for their size. */
export async function readCheckoutSessions(
  db: Knex,
  principal: Principal,
  ids: readonly string[],
  { lineItems }: SessionRead,
): Promise<CheckoutSession[]> {
  const { list } = lineItems ? READS.long : READS.short;
  return await list.byIds(db, principal, ids);
}

export interface SessionFilter extends IdRange {
  status: PayableStatus | undefined;
  clientReferenceId?: string | undefined;
  customerEmail?: string | undefined;
}

export async function listCheckoutSessions(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  { status, clientReferenceId, customerEmail, ...created }: SessionFilter,
  { lineItems }: SessionRead,
): Promise<Page<Sized<CheckoutSession>>> {
  const { list } = lineItems ? READS.long : READS.short;
  const filters: Filter[] = [
    { column: 'status', operator: '=', value: status },
    { column: 'client_reference_id', operator: '=', value: clientReferenceId },
    { column: 'customer_email', operator: '=', value: customerEmail },
    ...idRange(created),
  ];
  return await list.page(db, principal, page, filters);
}

export async function whyNoSession(db: Knex, principal: Principal, id: string): Promise<Refusal> {
  await requireActiveKey(db, principal);
  const other = await CheckoutSession.query(db)
    .findById(id)
    .where({ accountId: principal.accountId, livemode: !principal.livemode })
    .select('id');
  if (other === undefined) return noSuch('checkout session', id);
  const [exists, used] = principal.livemode ? ['test', 'live'] : ['live', 'test'];
  return new Refusal(
    'resource_missing',
    `No such checkout session: '${id}'. It exists in ${exists} mode, but you used a ${used} mode key.`,
    { param: 'id' },
  );
}
