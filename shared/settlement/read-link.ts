import { Account } from '../accounts/model.js';
import type { ShownItem } from '../checkout-sessions/present-public.js';
import { type BatchLimits, batchReads } from '../db/batch-reads.js';
import type { Knex } from '../db/knex.js';
import { modelColumns, type Row } from '../db/model-columns.js';
import { runStatement } from '../db/statement.js';
import { IMAGE_READS_AT_ONCE, LINK_READS_AT_ONCE, LONG_READS_AT_ONCE } from '../limits/bounds.js';
import { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';
import { SHOWN_PAYMENT_FIELDS } from '../payments/present.js';
import { PUBLIC_FIELDS } from '../session-fields/fields.js';
import { isIdShaped } from '../values/ids.js';
import {
  IMAGES,
  LIGHT_PUBLIC_ITEMS,
  READ_PUBLIC_ITEMS,
  readLinks,
  SHOWN_ITEMS,
  SUMMARY,
} from './statements/read-link.sql.js';

/**
 * A payable as its link shows it, with its merchant and the payment that holds or paid it. Line items may be long, so each
 * kind of read fetches only the part that its answer shows.
 */
export type LinkedPayable = Payable & {
  account: Account;
  payment: Payment | null;
  /** The line items of a complete session as JSON; null when they are too long to read with the session. */
  publicItems?: string | null;
  shownItems?: ShownItem[];
};

const STATE_FIELDS = [
  'id',
  'accountId',
  'livemode',
  'status',
  'amountTotalCents',
  'expiresAt',
  'paymentId',
  'offeredFeePayers',
  'failureCode',
  'failureAt',
  'refundedPaymentId',
  'refund',
] as const satisfies (keyof Payable)[];

const account = modelColumns(Account, 'account', [
  'id',
  'name',
  'evmWallet',
  'solanaWallet',
  'logoUrl',
  'brandColor',
  'supportEmail',
  'disabledAt',
]);

const payment = modelColumns(Payment, 'payment', [
  ...SHOWN_PAYMENT_FIELDS,
  'asset',
  'payloadKey',
  'identifier',
  'reportedTransaction',
  'failureCode',
]);

/** A statement reads one session: line items may be long. */
const ONE_BY_ONE: BatchLimits = { maxKeys: 1, maxStatements: LONG_READS_AT_ONCE };
/** Buyers of many links share these statements, which wait for no row. */
const SHORT_READS: BatchLimits = { maxStatements: LINK_READS_AT_ONCE };
const IMAGES_TOGETHER: BatchLimits = { maxKeys: 5, maxStatements: IMAGE_READS_AT_ONCE };

const SHOWN_FIELDS = [...STATE_FIELDS, ...PUBLIC_FIELDS.map(({ property }) => property)];

/** Reads a session for the 402 of agents. */
export const findLinkedPayable = findByLinkId(
  linkReader('link', SHOWN_FIELDS, {
    summary: SUMMARY,
    publicItems: LIGHT_PUBLIC_ITEMS,
  }),
  SHORT_READS,
);

/** Reads a session for status polls and payments, which need no line items. */
export const findLinkState = findByLinkId(linkReader('link_state', STATE_FIELDS, {}), SHORT_READS);

/** Reads a session for the page. */
export const findPagePayable = findByLinkId(
  linkReader('link_page', SHOWN_FIELDS, { shownItems: SHOWN_ITEMS }),
  ONE_BY_ONE,
);

type ReadLinks = (db: Knex, ids: readonly string[]) => Promise<(LinkedPayable | undefined)[]>;

/** The id is a part of the link's path: a text that cannot be an id costs no query. */
function findByLinkId(
  readLinked: ReadLinks,
  limits: BatchLimits,
): (db: Knex, id: string) => Promise<LinkedPayable | undefined> {
  const find = batchReads(readLinked, limits);
  return async (db, id) => (isIdShaped(id) ? await find(db, id) : undefined);
}

/** `derived` maps members without a column to SQL expressions over `session`. */
function linkReader(
  name: string,
  fields: readonly (keyof Payable)[],
  derived: Partial<Record<keyof LinkedPayable, string>>,
): ReadLinks {
  const session = modelColumns(Payable, 'session', fields);
  const members = Object.keys(derived);
  const more = Object.entries(derived).map(([member, sql]) => `${sql} AS "${member}"`);
  const statement = readLinks(name, [session.sql, account.sql, payment.sql, ...more]);
  const read = (row: Row): LinkedPayable => {
    const linked = Object.assign(session.read(row), {
      account: account.read(row),
      payment: row['payment.id'] === null ? null : payment.read(row),
    });
    for (const member of members) Object.assign(linked, { [member]: row[member] });
    return linked;
  };
  return async (db, ids) => {
    const rows = await runStatement<Row>(db, statement, [ids]);
    const found = new Map(rows.map((row) => [row['session.id'], row]));
    return ids.map((id) => {
      const row = found.get(id);
      return row && !isPartlyArchived(row) ? read(row) : undefined;
    });
  };
}

/** An archive run removes payments before their sessions, and leaves a session that changed meanwhile to the next run. */
function isPartlyArchived(row: Row): boolean {
  return row['session.status'] === 'complete' && row['payment.id'] === null;
}

const readItems = batchReads<string, string>(async (db, ids) => {
  const rows = await runStatement<{ items: string }>(db, READ_PUBLIC_ITEMS, ids);
  return rows.map(({ items }) => items);
}, ONE_BY_ONE);

/** Reads line items of any length. */
export async function readPublicItems(db: Knex, id: string): Promise<string> {
  return (await readItems(db, id)) ?? '[]';
}

interface LinkImage {
  url: string;
  accountId: string;
}

interface AskedImage {
  id: string;
  /** The index of the image over all line items; null for the merchant's logo. */
  number: number | null;
}

/** Undefined when the session has no such image. */
export const findLinkImage = batchReads<AskedImage, LinkImage>(async (db, asked) => {
  const rows = await runStatement<{ position: number; accountId: string; url: string | null }>(db, IMAGES, [
    asked.map(({ id }) => id),
    asked.map(({ number }) => number),
  ]);
  const found = new Map(rows.map((row) => [row.position, row]));
  return asked.map((_, index) => {
    const { url = null, accountId = '' } = found.get(index + 1) ?? {};
    return url === null ? undefined : { url, accountId };
  });
}, IMAGES_TOGETHER);
