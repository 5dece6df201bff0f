import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  type FindMissing,
  type MissingAccount,
  type PayoutAccounts,
  watchPayoutAccounts,
} from '../../../shared/chains/solana/payout-accounts.js';
import { loggerWithLines } from '../../support/log-lines.js';

const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const MISSING: MissingAccount = { asset: USDC, account: 'an-account' };
const HOUR_MS = 3_600_000;
const LONG_PAUSES = {
  believedMs: HOUR_MS,
  missingAgainMs: HOUR_MS,
  completeAgainMs: HOUR_MS,
  followedMs: HOUR_MS,
};

describe("merchants' payout accounts", () => {
  const watches: PayoutAccounts[] = [];
  const { logger, lines } = loggerWithLines();
  let checks = 0;
  let answer: ReturnType<FindMissing>;
  beforeEach(() => {
    lines.length = 0;
    checks = 0;
    answer = Promise.resolve([MISSING]);
  });
  afterEach(() => {
    for (const watch of watches.splice(0)) watch.close();
  });

  function watch(pauses: Partial<typeof LONG_PAUSES> = {}): { isMissing(asset?: string): boolean } {
    const find: FindMissing = () => {
      checks += 1;
      return answer;
    };
    const accounts = watchPayoutAccounts(find, logger, { ...LONG_PAUSES, ...pauses });
    watches.push(accounts);
    return { isMissing: (asset = USDC) => accounts.isMissing({ network: NETWORK, wallet: 'w', asset }) };
  }

  const logged = (): unknown[] => lines.map(({ event }) => event);

  it('count as existing until the chain has answered, without a wait for the answer', async () => {
    const { isMissing } = watch();
    assert.equal(isMissing(), false);
    await eventually(() => assert.equal(isMissing(), true));
    assert.equal(isMissing('another mint'), false);
    assert.equal(checks, 1);
    const { event, token, account, level } = lines[0] ?? {};
    const said = `${level}: ${event}: ${token} at ${account}`;
    assert.equal(said, 'warn: payout.account_missing: USDC at an-account');
  });

  it('count as existing when nothing can be read', async () => {
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
    assert.deepEqual(logged(), []);
  });

  it('are checked again soon in the background, so an opened account is found', async () => {
    const { isMissing } = watch({ missingAgainMs: 5 });
    await eventually(() => assert.equal(isMissing(), true));
    answer = Promise.resolve([]);
    const before = checks;
    await eventually(() => assert.ok(checks > before));
    await eventually(() => assert.deepEqual(logged(), ['payout.account_missing', 'payout.account_opened']));
    assert.equal(isMissing(), false);
  });

  it('are logged once while missing, however often they are checked', async () => {
    const { isMissing } = watch({ missingAgainMs: 5 });
    isMissing();
    await eventually(() => assert.ok(checks > 4));
    assert.deepEqual(logged(), ['payout.account_missing']);
  });

  it('stop counting as missing soon after they can be read no more', async () => {
    const { isMissing } = watch({ missingAgainMs: 5, believedMs: 200 });
    await eventually(() => assert.equal(isMissing(), true));
    answer = Promise.resolve({ kind: 'unreadable', reason: 'HTTP 429' });
    await eventually(() => assert.equal(isMissing(), false));
  });

  it('are checked again a few at a time, however many merchants lack one and however slow the endpoint is', async () => {
    const wallets = Array.from({ length: 40 }, (_, n) => `wallet ${n}`);
    const merchants = wallets.map((wallet) => ({ network: NETWORK, wallet, asset: USDC }));
    let [inFlight, most, found] = [0, 0, 0];
    let pause = (): Promise<unknown> => new Promise(setImmediate);
    const find: FindMissing = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await pause();
      inFlight -= 1;
      found += 1;
      return [MISSING];
    };
    const accounts = watchPayoutAccounts(find, logger, { ...LONG_PAUSES, missingAgainMs: 5 });
    watches.push(accounts);
    for (const merchant of merchants) await eventually(() => assert.ok(accounts.isMissing(merchant)));
    const before = found;
    await eventually(() => assert.ok(found >= before + 2 * merchants.length));
    const slow: (() => void)[] = [];
    pause = () => new Promise<void>((resolve) => slow.push(resolve));
    await eventually(() => assert.equal(inFlight, 8));
    // Several intervals.
    await sleep(50);
    assert.equal(inFlight, 8);
    // The eight, and the accounts that links ask for.
    assert.ok(most <= 10, `${most} at once`);
    pause = () => new Promise(setImmediate);
    for (const end of slow) end();
    const then = found;
    await eventually(() => assert.ok(found >= then + merchants.length));
  });
});
