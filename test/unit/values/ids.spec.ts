import assert from 'node:assert/strict';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { createdAt, isIdShaped, lowestIdAt, newId, randomText } from '../../../shared/values/ids.js';

describe('identifiers', () => {
  afterEach(resetClock);

  it('strictly increase within a process, even within one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => newId('evt_'));
    assert.deepEqual([...ids].sort(), ids);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('keep increasing when the clock steps back', () => {
    const before = newId('evt_');
    advanceClock(-60_000);
    assert.ok(newId('evt_') > before);
  });

  it('hold their creation time', () => {
    advanceClock(3_600_000);
    const from = nowMs();
    const id = newId('cs_test_');
    const time = createdAt(id).getTime();
    assert.ok(time >= from && time <= nowMs());
  });

  it('are letters and digits after their prefix, with at least 96 random bits', () => {
    const id = newId('cs_live_');
    assert.match(id, /^cs_live_[0-9A-Za-z]{28}$/);
    assert.ok(17 * Math.log2(62) >= 96);
    assert.notEqual(id.slice(-17), newId('cs_live_').slice(-17));
  });

  it('have a lowest value for each time, so that a time range is a range of ids', () => {
    const id = newId('cs_test_');
    const ms = createdAt(id).getTime();
    assert.ok(lowestIdAt('cs_test_', ms) <= id);
    assert.ok(lowestIdAt('cs_test_', ms + 1) > id);
    assert.ok(lowestIdAt('cs_test_', -5) <= lowestIdAt('cs_test_', 0));
    assert.equal(lowestIdAt('cs_test_', 1e20), 'cs_test_zzzzzzzz');
  });

  it('are recognized by their form', () => {
    assert.ok(isIdShaped(newId('we_')));
    for (const text of ['', 'a b', 'cs_\0', 'é', 'a'.repeat(101), '../x']) assert.ok(!isIdShaped(text), text);
  });

  it('draw every digit of random text with equal probability', () => {
    const counts = new Map<string, number>();
    for (const digit of randomText(62_000)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    assert.equal(counts.size, 62);
    // 1,000 expected each; seven standard deviations are 222.
    for (const [digit, count] of counts) assert.ok(Math.abs(count - 1000) < 222, `${digit}: ${count}`);
  });
});
