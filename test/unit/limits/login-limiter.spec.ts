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

type Limiter = ReturnType<typeof openLoginLimiter>;

describe('the login limiter', () => {
  beforeEach(() => stopClockOnSecond());
  afterEach(() => {
    mock.restoreAll();
    resetClock();
  });

  function guess(limiter: Limiter, address: string, times: number): unknown[] {
    return Array.from({ length: times }, () => limiter.check(address, () => false));
  }
  const login = (limiter: Limiter, address: string): unknown => limiter.check(address, () => true);
  const isLimited = (verdict: unknown): boolean => typeof verdict === 'object';

  it('checks a limited number of wrong passwords per address and minute, and then not even the right one', () => {
    const limiter = openLoginLimiter();
    const all = WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE;
    assert.deepEqual(guess(limiter, OURS, all), Array(all).fill(false));
    const verdict = limiter.check(OURS, () => assert.fail('the credentials must not be checked'));
    assert.ok(
      typeof verdict === 'object' && verdict.retryAfterSeconds >= 1 && verdict.retryAfterSeconds <= 60,
    );
    assert.equal(login(limiter, '203.0.113.8'), true);
    advanceClock(60_000);
    assert.equal(login(limiter, OURS), true);
  });

  it('does not count right passwords', () => {
    const limiter = openLoginLimiter();
    for (let asked = 0; asked < 1000; asked += 1) assert.equal(login(limiter, OURS), true);
  });

  it('beyond a limited number of all addresses checks the first try of each, and more of one that logged in before', () => {
    let limited = 0;
    const limiter = openLoginLimiter(() => (limited += 1));
    assert.equal(login(limiter, OURS), true);
    for (let address = 0; address < WRONG_PASSWORDS_A_MINUTE; address += 1)
      assert.deepEqual(guess(limiter, `2001:db8::${address}`, 1), [false]);
    assert.ok(isLimited(login(limiter, '2001:db8::1')), 'an address that was wrong');
    assert.equal(limited, 1);
    assert.equal(login(limiter, '203.0.113.8'), true, 'another operator');
    const [first, second] = guess(limiter, '203.0.113.9', 2);
    assert.ok(first === false && isLimited(second), 'one guess of a stranger');
    assert.deepEqual(guess(limiter, OURS, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE).at(-1), false);
    assert.ok(isLimited(login(limiter, OURS)));
    assert.equal(limited, 1);
  });

  it('lets an operator in while ten addresses guess as often as they may', () => {
    const limiter = openLoginLimiter();
    for (let address = 0; address < 10; address += 1)
      guess(limiter, `198.51.100.${address}`, 10 * WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE);
    assert.equal(login(limiter, OURS), true);
  });

  it('remembers a limited number of addresses', () => {
    const limiter = openLoginLimiter();
    for (let address = 0; address < 10_050; address += 1)
      guess(limiter, `10.0.${address >> 8}.${address & 255}`, 1);
    assert.equal(login(limiter, '10.0.0.0'), true, 'the oldest is forgotten');
    assert.ok(isLimited(login(limiter, '10.0.30.0')));
  });

  it('ends its limit when the clock steps back', () => {
    const limiter = openLoginLimiter();
    guess(limiter, OURS, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE);
    advanceClock(-3_600_000);
    assert.equal(login(limiter, OURS), true);
  });
});
