import assert from 'node:assert/strict';
import type { Principal } from '../../../shared/accounts/api-keys.js';
import { createCheckoutSession, type NewCheckoutSession } from '../../../shared/checkout-sessions/create.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { INSERT } from '../../../shared/checkout-sessions/statements/create.sql.js';
import type { Knex } from '../../../shared/db/knex.js';
import { SMALL_BODY_BYTES } from '../../../shared/limits/bounds.js';
import { fieldsBy, TEXT_FIELDS } from '../../../shared/session-fields/fields.js';
import { TEXT_CASES } from '../../support/session-fields.js';

const INPUT: Required<NewCheckoutSession> = {
  items: [{ name: 'Coffee', description: 'hot', images: [], unitAmountCents: 450, quantity: 2 }],
  metadata: { order: '1234' },
  ...fieldsBy('property', TEXT_FIELDS, ({ name }) => TEXT_CASES[name].sent),
  successUrl: 'https://shop.example/thanks',
  expiresAtSeconds: undefined,
};
/** Fields that have no column of their own name. */
const WITHOUT_OWN_COLUMN: readonly string[] = ['items', 'expiresAtSeconds'];
/** Columns with the same value in every new session. */
const FIXED: readonly string[] = ['status', 'paymentId'];

const snakeCase = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

interface Sent {
  /** The session as its merchant reads it. */
  session: CheckoutSession;
  row: Record<string, unknown>;
}

/** A database stub that records the inserted rows. */
function databaseOf(insert: (rows: string) => Promise<void>): Knex {
  const connection = {
    readyForQuery: true,
    getTransactionStatus: () => 'I',
    async query({ values: [rows] }: { values: [string] }) {
      await insert(rows);
      return { rows: (JSON.parse(rows) as { id: string }[]).map(({ id }) => ({ id })) };
    },
  };
  const client = {
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    afterFailure: () => undefined,
    emit: () => undefined,
  };
  return { client, userParams: { preparedStatements: true } } as unknown as Knex;
}

const principal: Principal = { accountId: 'acct_1', livemode: false, keyId: 'key_1', access: 'full' };

async function create(): Promise<Sent> {
  let sent: Partial<Sent> = {};
  const db = databaseOf(async (rows) => {
    sent = { ...sent, row: JSON.parse(rows)[0] };
  });
  await createCheckoutSession(db, principal, INPUT, {
    idempotent: undefined,
    render(session) {
      sent = { ...sent, session };
      return '{}';
    },
  });
  assert.ok(sent.session !== undefined && sent.row !== undefined);
  return { session: sent.session, row: sent.row };
}

describe('a new session', () => {
  let sent: Sent;
  before(async () => {
    sent = await create();
  });

  it('has every field that was sent', () => {
    const fields = Object.entries(INPUT).filter(([field]) => !WITHOUT_OWN_COLUMN.includes(field));
    const lost = fields.filter(([field, value]) => sent.session[field as keyof CheckoutSession] !== value);
    assert.deepEqual(
      lost.map(([field]) => field),
      [],
      'not in newCheckoutSession of checkout-sessions/create.ts',
    );
  });

  it('is stored with every field that it is shown with', () => {
    const shown = Object.entries(JSON.parse(JSON.stringify(sent.session)) as object);
    const fields = shown.filter(([field]) => !FIXED.includes(field));
    assert.ok(fields.length > 8);
    const unwritten = fields.filter(([field, value]) => {
      const written = sent.row[snakeCase(field)];
      return written === undefined || JSON.stringify(written) !== JSON.stringify(value);
    });
    assert.deepEqual(
      unwritten.map(([field]) => field),
      [],
      'not in rowOf of checkout-sessions/create.ts: it would be echoed once, and lost',
    );
  });

  for (const [list, pattern] of Object.entries({
    'the columns that its rows are read as': /AS requested \(([^$]*?)\)\s*\), allowed/,
    'the columns that it is inserted into': /INSERT INTO checkout_sessions \(([^)]*)\)/,
    'the columns that are inserted': /SELECT (id, account_id[^)]*?)\s+FROM allowed/,
  })) {
    it(`has each of its fields in ${list}`, () => {
      const [, columns = assert.fail(list)] = pattern.exec(INSERT.text) ?? [];
      const named = new Set(columns.split(',').map((column) => column.trim().split(/\s/, 1)[0]));
      const missing = Object.keys(sent.session)
        .filter((field) => !FIXED.includes(field))
        .filter((field) => !named.has(snakeCase(field)));
      assert.deepEqual(
        missing,
        [],
        'not in checkout-sessions/create.sql.ts: it would be echoed once, and lost',
      );
    });
  }

  it('does not share a statement with large sessions', async () => {
    const statements: number[] = [];
    const db = databaseOf(async (rows) => void statements.push(rows.length));
    const reply = { idempotent: undefined, render: () => '{}' };
    const metadata = { long: 'x'.repeat(SMALL_BODY_BYTES) };
    const inputs = [{ ...INPUT, metadata }, INPUT, { ...INPUT, metadata }, INPUT];
    await Promise.all(inputs.map((input) => createCheckoutSession(db, principal, input, reply)));
    assert.deepEqual(
      statements.map((bytes) => bytes > 2 * SMALL_BODY_BYTES),
      [true, false],
    );
    assert.ok((statements[1] ?? 0) < SMALL_BODY_BYTES);
  });
});
