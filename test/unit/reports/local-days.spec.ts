import assert from 'node:assert/strict';
import { findTimeZone, startOfDay } from '../../../shared/reports/local-days.js';
import { spanFor } from '../../../shared/reports/spans.js';
import { DAY_MS } from '../../../shared/values/day.js';

describe('days of a time zone', () => {
  const starts = (name: string, day: string): string => {
    const zone = findTimeZone(name) ?? assert.fail(`there is no ${name}`);
    return new Date(startOfDay(zone, Date.parse(`${day}T00:00:00Z`))).toISOString().slice(0, 16);
  };

  const cases: [zone: string, day: string, start: string][] = [
    ['UTC', '2026-11-30', '2026-11-30T00:00'],
    ['Etc/UTC', '2026-11-30', '2026-11-30T00:00'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00'],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00'],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00'],
    ['Europe/Berlin', '2026-10-26', '2026-10-25T23:00'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00'],
    ['America/New_York', '2026-11-02', '2026-11-02T05:00'],
    ['Asia/Kolkata', '2026-01-01', '2025-12-31T18:30'],
    ['Asia/Kathmandu', '2026-01-01', '2025-12-31T18:15'],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00'],
    ['Australia/Lord_Howe', '2026-04-06', '2026-04-05T13:30'],
    ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00'],
    ['Etc/GMT+12', '2026-01-01', '2026-01-01T12:00'],
    // Midnight is left out: the clocks go from 23:59 to 01:00.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00'],
    // Midnight comes twice: the clocks go from 01:00 back to 00:00.
    ['Atlantic/Azores', '2026-10-25', '2026-10-25T00:00'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00'],
    // The day was left out.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00'],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00'],
  ];
  for (const [zone, day, start] of cases)
    it(`${day} in ${zone} starts at ${start}`, () => assert.equal(starts(zone, day), start));

  it('follow each other in every zone, and hold the moments with their date', () => {
    for (const name of Intl.supportedValuesOf('timeZone')) {
      const zone = findTimeZone(name) ?? assert.fail(name);
      const format = new Intl.DateTimeFormat('en-CA', { timeZone: name, dateStyle: 'short' });
      // Every 8 hours, with the days around the changes in spring and autumn of both hemispheres.
      for (const from of ['2026-03-25', '2026-04-22', '2026-09-03', '2026-10-23']) {
        let dayMs = Date.parse(`${from}T00:00:00Z`);
        let start = startOfDay(zone, dayMs);
        for (let count = 0; count < 12; count += 1, dayMs += DAY_MS) {
          const end = startOfDay(zone, dayMs + DAY_MS);
          assert.ok(end > start && end - start <= 26 * 3_600_000, `${name} ${dayMs}`);
          assert.equal(start % 900_000, 0);
          for (const ms of [start, end - 1])
            assert.equal(format.format(ms), new Date(dayMs).toISOString().slice(0, 10), name);
          start = end;
        }
      }
    }
  }).timeout(60_000);

  it('have no zone of another spelling', () => {
    for (const name of ['', '+02:00', '-05', 'Berlin', 'Europe/Nowhere', 'UTC\0', "UTC'", 'x'.repeat(10_000)])
      assert.equal(findTimeZone(name), undefined, name);
  });

  it('are read in the longest rows that divide them', () => {
    const minute = 60_000;
    assert.equal(spanFor([0, 1440 * minute]), 1440);
    assert.equal(spanFor([60 * minute, 1500 * minute]), 60);
    assert.equal(spanFor([30 * minute, 1470 * minute]), 15);
  });
});
