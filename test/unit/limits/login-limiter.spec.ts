import assert from 'node:assert/strict';
import { mock } from 'node:test';
import {
  WRONG_PASSWORDS_A_MINUTE,
  WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE,
} from '../../../shared/limits/bounds.js';
import { openLoginLimiter } from '../../../shared/limits/login-limiter.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { stopClockOnSecond } from '../../support/stopped-clock.js';

const OURS = '203.0.113.7';

describe('the login limiter', () => {
  beforeEach(() => stopClockOnSecond());
  afterEach(() => {
    mock.restoreAll();
    resetClock();
  });

  function guess(limiter: ReturnType<typeof openLoginLimiter>, address: string, times: number): unknown[] {
    return Array.from({ length: times }, () => limiter.check(address, () => false));
  }
  const isLimited = (verdict: unknown): boolean => typeof verdict === 'object';

  it('checks a limited number of wrong passwords per address and minute, and then not even the right one', () => {
    const limiter = openLoginLimiter();
    const all = WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE;
    assert.deepEqual(guess(limiter, OURS, all), Array(all).fill(false));
    const verdict = limiter.check(OURS, () => assert.fail('the credentials must not be checked'));
    assert.ok(
      typeof verdict === 'object' && verdict.retryAfterSeconds >= 1 && verdict.retryAfterSeconds <= 60,
    );
    assert.equal(
      limiter.check('203.0.113.8', () => true),
      true,
    );
    advanceClock(60_000);
    assert.equal(
      limiter.check(OURS, () => true),
      true,
    );
  });

  it('does not count right passwords', () => {
    const limiter = openLoginLimiter();
    for (let asked = 0; asked < 1000; asked += 1)
      assert.equal(
        limiter.check(OURS, () => true),
        true,
      );
  });

  it('checks a limited number of all addresses, and more only of an address that logged in before', () => {
    let limited = 0;
    const limiter = openLoginLimiter(() => {
      limited += 1;
    });
    assert.equal(
      limiter.check(OURS, () => true),
      true,
    );
    const judged = Array.from({ length: 5000 }, (_, index) =>
      limiter.check(`2001:db8::${index}`, () => false),
    );
    assert.equal(judged.filter((verdict) => verdict === false).length, WRONG_PASSWORDS_A_MINUTE);
    assert.ok(isLimited(limiter.check('203.0.113.8', () => true)), 'a stranger, though right');
    assert.equal(
      limiter.check(OURS, () => true),
      true,
      'the operator can still log in',
    );
    assert.equal(limited, 1);
    assert.ok(isLimited(guess(limiter, OURS, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE + 1).at(-1)));
  });

  it('ends its limit when the clock steps back', () => {
    const limiter = openLoginLimiter();
    guess(limiter, OURS, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE);
    advanceClock(-3_600_000);
    assert.equal(
      limiter.check(OURS, () => true),
      true,
    );
  });
});
