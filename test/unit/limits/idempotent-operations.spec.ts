import assert from 'node:assert/strict';
import { takeLongTurn } from '../../../api/limits/long-turns.js';
import { type Call, idempotentOperation } from '../../../api/v1/operation/operation.js';

const CALL = {
  principal: { accountId: 'acct_1', livemode: false, keyId: 'key_1', access: 'full' },
  input: { encoding: 'json', value: {} },
  id: '',
  idempotencyKey: undefined,
  path: '/v1/checkout/sessions',
  wantsCsv: false,
} as const;
const DEPS = {
  connections: { of: () => undefined },
  recentWrites: { around: (_account: string, write: () => Promise<unknown>) => write() },
} as never;

/** Validates and stores one body, and says what happened in which order. */
async function orderOf(call: Call): Promise<string[]> {
  const order: string[] = [];
  const operation = idempotentOperation(
    DEPS,
    () => {
      order.push('validated');
      setImmediate(() => order.push('other work'));
    },
    async () => {
      order.push('stored');
      return '{}';
    },
  );
  await takeLongTurn(); // `serve` and the MCP tools do so before they validate a large body.
  await operation(call);
  return order;
}

describe('an operation with an idempotency key', () => {
  it('leaves the event loop to other work between validating a large body and storing it', async () => {
    assert.deepEqual(await orderOf({ ...CALL, hasLargeBody: false }), ['validated', 'stored']);
    assert.deepEqual(await orderOf({ ...CALL, hasLargeBody: true }), ['validated', 'other work', 'stored']);
  });
});
