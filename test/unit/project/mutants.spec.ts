import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { MUTANTS } from '../../../lab/mutants/mutants.js';

const ROOT = path.join(import.meta.dirname, '..', '..', '..');

describe('the mutants of the project', () => {
  it('are at least twenty, each with a name of its own', () => {
    assert.ok(MUTANTS.length >= 20);
    assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
  });

  for (const { name, file, from, to, spec } of MUTANTS) {
    it(`can be planted: ${name}`, () => {
      const pieces = readFileSync(path.join(ROOT, file), 'utf8').split(from);
      assert.equal(pieces.length, 2, `${file} has the text ${pieces.length - 1} times`);
      assert.notEqual(from, to);
      assert.ok(existsSync(path.join(ROOT, spec)), spec);
    });
  }
});
