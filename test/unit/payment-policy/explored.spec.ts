import assert from 'node:assert/strict';
import type { Explored } from '../../../lab/explore/policy/breadth-first/search.js';
import { decodeWorld } from '../../../lab/explore/policy/search/decode-world.js';
import { encodeWorld } from '../../../lab/explore/policy/search/encode-world.js';
import { explore } from '../../../lab/explore/policy/search/explore.js';
import { needsOperator } from '../../../lab/explore/policy/search/invariants.js';
import { SETTINGS, type Setting } from '../../../lab/explore/policy/setting/setting.js';
import { ROWS } from '../../../lab/world/history/rows.js';
import { addToTitle } from '../../support/add-to-title.js';

/** Steps that the model must contain: a promise also holds where nothing happens. */
const MET = [
  '/settle says settled: succeed: complete',
  '/settle says settled: check_again',
  '/settle says not_processed: settle_again',
  '/settle says not_processed: fail: released: reopen',
  '/settle says not_processed: check_again',
  '/settle says postponed: settle_again',
  '/settle says postponed: fail: released: reopen',
  '/settle says rejected: check_again',
  '/settle says rejected: fail: refused clearly: reopen',
  'too late to call again: fail: released: reopen',
  'too late to call again: check_again',
  'a check sees paid: succeed: complete',
  'a check sees paid: succeed: complete, another is surplus',
  'a check sees paid: check_again',
  'a check sees unused: settle_again',
  'a check sees unused: fail: its money cannot move: reopen',
  'a check sees unused: fail: its money cannot move: expire',
  'a check sees unused: fail: its money cannot move: complete_with_late',
  'a check sees unused: fail: refused, and a later check saw it unused: reopen',
  'a check sees unused: fail: said to be unknown: it ends far ahead, and two checks saw it unused: reopen',
  'a check sees unreadable: fail: said to be unknown: a day of silence after its end: reopen',
  'a check sees unreadable: fail: said to be unknown: a day of silence after its end: expire',
  'a check sees unreadable, /verify says valid: settle_again',
  'a check sees searching, /verify says valid: settle_again',
  'a check sees spent_otherwise: fail: its money cannot move: reopen',
  'a check sees used: check_again',
  'a check for late money sees paid: succeed: complete',
  'a check for late money sees paid: succeed: complete_instead',
  'a check for late money sees paid: succeed: keep_as_late',
  'a check for late money sees paid: succeed: surplus',
  'a check for late money sees spent_otherwise: stop_watching',
  'a check for late money sees unused: stop_watching',
  'a check for late money sees unreadable: check_again',
  'an operator says the truth: succeed: complete',
  'an operator says the truth: fail: its money cannot move: reopen',
  'a worker that lost its row hears settled',
  'a worker is killed in its call',
  'a check is lost',
  'a week passes',
  'the endpoint has been silent for a day',
  'the newest block is replaced',
  'another payload claims the session',
  'the same payload claims the session again',
];

/** Each with the reason why the model never decides by it. */
const ROWS_OUTSIDE: Readonly<Record<string, string>> = {
  'before-call-1': 'the call follows, and its answer decides',
  'before-call-2': 'the call follows, and its answer decides',
  'look-used-1': 'the model does not know how far a search has come',
  'look-searching-3': 'the model does not know how far a search has come',
  'look-unreadable-1': 'a check without a turn is no check: the model has only checks that were made',
  'late-paid-2': 'two confirmations take one tick, and so does the first pause of a watch',
  'late-searching-2': 'the model does not know how far a search has come',
  'failure-open-1': 'a payment in processing holds its session',
  'failure-expired-1': 'a payment in processing holds its session',
  'failure-complete-1': 'a payment in processing holds its session',
  'failure-processing-1': 'a payment in processing holds its session',
};

describe('the policy of a payment, explored whole', () => {
  const known = new Map<Setting, Explored>();
  const explored = (setting: Setting): Explored => {
    const result = known.get(setting) ?? explore(setting);
    known.set(setting, result);
    return result;
  };

  for (const setting of Object.values(SETTINGS)) {
    it(`keeps every promise: ${setting.name}`, function () {
      const { states, depth, counterexample } = explored(setting);
      assert.equal(counterexample, undefined, counterexample);
      addToTitle(this, `${states.length} states, ${depth} steps deep`);
    });
  }

  it('meets everything that can be decided', () => {
    const met = new Set(Object.values(SETTINGS).flatMap((setting) => [...explored(setting).met]));
    const missing = MET.filter((what) => !met.has(what));
    assert.deepEqual(missing, []);
  });

  it('decides by every row that the model can tell apart', () => {
    const rows = new Set(Object.values(SETTINGS).flatMap((setting) => [...explored(setting).rows]));
    const idle = [...ROWS.keys()].filter((row) => !rows.has(row));
    assert.deepEqual(idle, Object.keys(ROWS_OUTSIDE));
  });

  it('leaves to a person only what was used by what no endpoint shows', () => {
    const isLeft = (text: string): boolean => needsOperator(decodeWorld(text));
    assert.ok(explored(SETTINGS.unexplained).states.some(isLeft));
  });

  for (const setting of [SETTINGS.unexplained, SETTINGS.threePayments]) {
    it(`has forgotten nothing that makes a difference: ${setting.name}`, () => {
      const remembered = explore({ ...setting, memory: 2 }).states;
      const forgotten = new Set(remembered.map((text) => encodeWorld(decodeWorld(text), setting)));
      assert.ok(remembered.length > forgotten.size);
      assert.deepEqual(forgotten, new Set(explored(setting).states));
    });
  }
});
