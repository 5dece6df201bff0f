import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  type FindMissing,
  type MissingAccount,
  type PayoutAccounts,
  watchPayoutAccounts,
} from '../../../shared/chains/payout-accounts.js';
import { loggerWithLines } from '../../support/log-lines.js';

const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const MISSING: MissingAccount = { asset: USDC, account: 'an-account' };
const HOUR_MS = 3_600_000;
const SELDOM = {
  believedMs: HOUR_MS,
  missingAgainMs: HOUR_MS,
  completeAgainMs: HOUR_MS,
  followedMs: HOUR_MS,
};

describe('the accounts that merchants are paid into', () => {
  const watches: PayoutAccounts[] = [];
  const { logger, lines } = loggerWithLines();
  let looks = 0;
  let answer: ReturnType<FindMissing>;
  beforeEach(() => {
    lines.length = 0;
    looks = 0;
    answer = Promise.resolve([MISSING]);
  });
  afterEach(() => {
    for (const watch of watches.splice(0)) watch.close();
  });

  function watch(pauses: Partial<typeof SELDOM> = {}): { isMissing(asset?: string): boolean } {
    const find: FindMissing = () => {
      looks += 1;
      return answer;
    };
    const accounts = watchPayoutAccounts(find, logger, { ...SELDOM, ...pauses });
    watches.push(accounts);
    return { isMissing: (asset = USDC) => accounts.isMissing({ network: NETWORK, wallet: 'w', asset }) };
  }

  const told = (): unknown[] => lines.map(({ event }) => event);

  it('are taken to be there until the chain has said otherwise, and nobody waits for it', async () => {
    const { isMissing } = watch();
    assert.equal(isMissing(), false);
    await eventually(() => assert.equal(isMissing(), true));
    assert.equal(isMissing('another mint'), false);
    assert.equal(looks, 1);
    const [line] = lines;
    const { event, token, account, level } = line ?? {};
    assert.deepEqual(
      [event, token, account, level],
      ['payout.account_missing', 'USDC', 'an-account', 'warn'],
    );
  });

  it('are taken to be there when nothing can be read', async () => {
    for (const unreadable of [
      async () => ({ kind: 'unreadable', reason: 'HTTP 500' }) as const,
      async () => Promise.reject(new Error('down')),
    ]) {
      answer = unreadable();
      answer.catch(() => undefined);
      const { isMissing } = watch();
      isMissing();
      await answer.catch(() => undefined);
      await new Promise(setImmediate);
      assert.equal(isMissing(), false);
    }
    assert.deepEqual(told(), []);
  });

  it('are looked for again soon, without anybody asking: who opens one is served', async () => {
    const { isMissing } = watch({ missingAgainMs: 5 });
    await eventually(() => assert.equal(isMissing(), true));
    answer = Promise.resolve([]);
    const before = looks;
    await eventually(() => assert.ok(looks > before));
    await eventually(() => assert.deepEqual(told(), ['payout.account_missing', 'payout.account_opened']));
    assert.equal(isMissing(), false);
  });

  it('are warned of once, however often they are looked for', async () => {
    const { isMissing } = watch({ missingAgainMs: 5 });
    isMissing();
    await eventually(() => assert.ok(looks > 4));
    assert.deepEqual(told(), ['payout.account_missing']);
  });

  it('are not called missing for long by what was true once, when it can be read no more', async () => {
    const { isMissing } = watch({ missingAgainMs: 5, believedMs: 200 });
    await eventually(() => assert.equal(isMissing(), true));
    answer = Promise.resolve({ kind: 'unreadable', reason: 'HTTP 429' });
    await eventually(() => assert.equal(isMissing(), false));
  });
});
