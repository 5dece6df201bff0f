import assert from 'node:assert/strict';
import { type Hex, numberToHex, pad } from 'viem';
import { canceledLog, type FakeLog, transferLog, usedLog } from '../../../lab/world/chains/evm-logs.js';
import {
  type AuthorizedPayment,
  judgeAuthorization,
} from '../../../shared/chains/evm/authorization-proof.js';
import type { EvmLog } from '../../../shared/chains/evm/evm-rpc.js';

const ASSET: Hex = `0x${'a5'.repeat(20)}`;
const BUYER: Hex = `0x${'b1'.repeat(20)}`;
const MERCHANT: Hex = `0x${'c3'.repeat(20)}`;
const STRANGER: Hex = `0x${'d4'.repeat(20)}`;
const NONCE: Hex = `0x${'01'.repeat(32)}`;
const OTHER_NONCE: Hex = `0x${'02'.repeat(32)}`;
const TRANSACTION: Hex = `0x${'ff'.repeat(32)}`;
const PAYMENT: AuthorizedPayment = { asset: ASSET, from: BUYER, payTo: MERCHANT, amount: 100n, nonce: NONCE };

const used = (parts: { asset?: Hex; from?: Hex; nonce?: Hex } = {}): FakeLog =>
  usedLog({ ...PAYMENT, ...parts });
const canceled = (parts: { from?: Hex; nonce?: Hex } = {}): FakeLog => canceledLog({ ...PAYMENT, ...parts });
const transfer = (parts: { asset?: Hex; from?: Hex; payTo?: Hex; amount?: bigint } = {}): FakeLog =>
  transferLog({ ...PAYMENT, ...parts });

function judge(...logs: FakeLog[]): Proof {
  return judgeAuthorization(number(logs), PAYMENT);
}

function number(logs: FakeLog[]): EvmLog[] {
  return logs.map((log, index) => ({ ...log, logIndex: 10 + index, transactionHash: TRANSACTION }));
}

type Proof = ReturnType<typeof judgeAuthorization>;
const SPENT: Proof = { kind: 'spent' };
const ABSENT: Proof = { kind: 'absent' };
const AMBIGUOUS: Proof = { kind: 'ambiguous' };
const transferredAt = (logIndex: number): Proof => ({ kind: 'transferred', logIndex });

describe('the proof in the logs of a transaction', () => {
  const cases: [title: string, logs: FakeLog[], proof: Proof][] = [
    ['is the transfer after the use', [used(), transfer()], transferredAt(11)],
    ['is a transfer of more', [used(), transfer({ amount: 101n })], transferredAt(11)],
    [
      'is the transfer before the use when the token logs in that order',
      [transfer(), used()],
      transferredAt(10),
    ],
    ['is not a transfer of less, as by a token that takes a fee', [used(), transfer({ amount: 99n })], SPENT],
    ['is not a transfer to another', [used(), transfer({ payTo: STRANGER })], SPENT],
    ['is not a cancellation', [canceled()], SPENT],
    ['is not a cancellation beside a transfer', [canceled(), transfer()], SPENT],
    ['is not there without the use', [transfer()], ABSENT],
    ['is not there in a transaction without logs', [], ABSENT],
    ["is not another nonce's", [used({ nonce: OTHER_NONCE }), transfer()], ABSENT],
    ["is not another payer's with the same nonce", [used({ from: STRANGER }), transfer()], ABSENT],
    [
      "is not another contract's logs with the same contents",
      [used({ asset: STRANGER }), transfer({ asset: STRANGER })],
      ABSENT,
    ],
    ["is not another contract's transfer", [used(), transfer({ asset: STRANGER })], AMBIGUOUS],
    ["is not another payer's transfer", [used(), transfer({ from: STRANGER })], AMBIGUOUS],
    [
      'is not the transfer that belongs to another authorization',
      [used(), transfer({ payTo: STRANGER }), used({ nonce: OTHER_NONCE }), transfer()],
      SPENT,
    ],
    ['does not count for two authorizations', [used(), used({ nonce: OTHER_NONCE }), transfer()], AMBIGUOUS],
    [
      "is its own transfer among the same buyer's others",
      [used({ nonce: OTHER_NONCE }), transfer(), used(), transfer()],
      transferredAt(13),
    ],
    [
      "is its own transfer among others' when transfers are logged first",
      [transfer(), used({ nonce: OTHER_NONCE }), transfer(), used()],
      transferredAt(12),
    ],
    [
      'is its own transfer when other buyers pay in between',
      [used(), used({ from: STRANGER }), transfer({ from: STRANGER }), transfer()],
      transferredAt(13),
    ],
    [
      'is ambiguous when the authorization paid elsewhere next to a transfer without an authorization',
      [transfer(), used(), transfer({ payTo: STRANGER })],
      AMBIGUOUS,
    ],
    [
      'is ambiguous when a first transfer takes a fee and a second one pays',
      [used(), transfer({ payTo: STRANGER, amount: 1n }), transfer()],
      AMBIGUOUS,
    ],
  ];

  for (const [title, logs, proof] of cases) {
    it(title, () => {
      assert.deepEqual(judge(...logs), proof);
    });
  }

  it('depends on the log indexes, not on the order of the answer', () => {
    const [use, elsewhere, mine, paid] = number([
      used({ nonce: OTHER_NONCE }),
      transfer({ payTo: STRANGER }),
      used(),
      transfer(),
    ]);
    assert.ok(use && elsewhere && mine && paid);
    const verdict = judgeAuthorization([mine, elsewhere, use, paid], PAYMENT);
    assert.deepEqual(verdict, transferredAt(13));
  });

  it('does not depend on the case of hexadecimal digits', () => {
    const shouted = number([used(), transfer()]).map((log) => ({
      ...log,
      address: log.address.toUpperCase().replace('0X', '0x'),
      topics: log.topics.map((topic) => topic.toUpperCase().replace('0X', '0x')),
    }));
    assert.deepEqual(judgeAuthorization(shouted, PAYMENT), transferredAt(11));
  });

  it('ignores transfer logs of another form', () => {
    const nft = { ...transfer(), topics: [...transfer().topics, numberToHex(1, { size: 32 })] };
    const unindexed = { ...transfer(), topics: transfer().topics.slice(0, 2), data: pad(MERCHANT) };
    const long = { ...transfer(), data: `${transfer().data}00` as const };
    const text = { ...transfer(), data: `0x${'zz'.repeat(32)}` as const };
    for (const odd of [nft, unindexed, long, text]) {
      assert.deepEqual(judge(used(), odd), AMBIGUOUS);
      assert.deepEqual(judge(used(), odd, transfer()), transferredAt(12));
    }
  });

  it('does not mistake a transfer to an address equal to the nonce for the use', () => {
    const payment = { ...PAYMENT, nonce: pad(MERCHANT) };
    assert.deepEqual(judgeAuthorization(number([transfer(), transfer()]), payment), ABSENT);
  });

  it('proves a payment of 0 by a transfer of 0', () => {
    const payment = { ...PAYMENT, amount: 0n };
    const logs = number([used(), transfer({ amount: 0n })]);
    assert.deepEqual(judgeAuthorization(logs, payment), transferredAt(11));
  });
});
