import assert from 'node:assert/strict';
import { prefers } from '../../../api/input/media-type.js';

describe('an Accept header', () => {
  const csv = [
    'text/csv',
    'TEXT/CSV',
    'text/csv; charset=utf-8',
    'text/csv;charset=UTF-8;header=present',
    'text/csv; header="present"; q=0.3',
    'text/csv, */*',
    '*/*, text/csv',
    'text/csv, application/json',
    'application/json;q=0.5, text/csv;q=0.6',
    'application/json;q=0, text/csv;q=0.1',
    'application/*, text/csv',
  ];
  for (const accept of csv)
    it(`${accept} prefers CSV`, () => assert.ok(prefers(accept, 'text/csv', 'application/json')));

  const json = [
    '',
    '*/*',
    'application/json',
    'application/json, text/csv',
    'text/csv;q=0.5, application/json',
    'text/csv;q=0.5, */*',
    'text/csv;q=0',
    'text/csv;q=x',
    'text/csvx',
    `${'a/b,'.repeat(10_000)}text/csv`,
    `"${','.repeat(30_000)}text/csv`,
  ];
  for (const accept of json)
    it(`${accept.slice(0, 40)} does not prefer CSV`, () =>
      assert.equal(prefers(accept, 'text/csv', 'application/json'), false));
});
