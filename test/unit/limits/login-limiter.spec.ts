import assert from 'node:assert/strict';
import { mock } from 'node:test';
import {
  WRONG_PASSWORDS_A_MINUTE,
  WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE,
} from '../../../shared/limits/bounds.js';
import { createLoginLimiter } from '../../../shared/limits/login-limiter.js';
import { returnToPresent, travelMs } from '../../../shared/process/clock.js';
import { stopClockOnSecond } from '../../support/stopped-clock.js';

const OURS = '203.0.113.7';

describe('the brake on guessing', () => {
  beforeEach(() => stopClockOnSecond());
  afterEach(() => {
    mock.restoreAll();
    returnToPresent();
  });

  function guess(brake: ReturnType<typeof createLoginLimiter>, address: string, times: number): unknown[] {
    return Array.from({ length: times }, () => brake.judge(address, () => false));
  }
  const isHeldUp = (verdict: unknown): boolean => typeof verdict === 'object';

  it('looks at so many wrong ones of an address in a minute, and then at none, nor at the right one', () => {
    const brake = createLoginLimiter();
    const all = WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE;
    assert.deepEqual(guess(brake, OURS, all), Array(all).fill(false));
    const verdict = brake.judge(OURS, () => assert.fail('it is not looked at'));
    assert.ok(
      typeof verdict === 'object' && verdict.retryAfterSeconds >= 1 && verdict.retryAfterSeconds <= 60,
    );
    assert.equal(
      brake.judge('203.0.113.8', () => true),
      true,
    );
    travelMs(60_000);
    assert.equal(
      brake.judge(OURS, () => true),
      true,
    );
  });

  it('counts no right one', () => {
    const brake = createLoginLimiter();
    for (let asked = 0; asked < 1000; asked += 1)
      assert.equal(
        brake.judge(OURS, () => true),
        true,
      );
  });

  it('looks at so many of all addresses together, and at more only of one that was right before', () => {
    let told = 0;
    const brake = createLoginLimiter(() => {
      told += 1;
    });
    assert.equal(
      brake.judge(OURS, () => true),
      true,
    );
    const judged = Array.from({ length: 5000 }, (_, index) => brake.judge(`2001:db8::${index}`, () => false));
    assert.equal(judged.filter((verdict) => verdict === false).length, WRONG_PASSWORDS_A_MINUTE);
    assert.ok(isHeldUp(brake.judge('203.0.113.8', () => true)), 'a stranger, though right');
    assert.equal(
      brake.judge(OURS, () => true),
      true,
      'the operator goes on',
    );
    assert.equal(told, 1);
    assert.ok(isHeldUp(guess(brake, OURS, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE + 1).at(-1)));
  });

  it('is let go by a clock that steps back', () => {
    const brake = createLoginLimiter();
    guess(brake, OURS, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE);
    travelMs(-3_600_000);
    assert.equal(
      brake.judge(OURS, () => true),
      true,
    );
  });
});
