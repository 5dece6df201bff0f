import assert from 'node:assert/strict';
import { seededRandom } from '../../../lab/world/chance/seeded-random.js';
import { drawFaultModes, settleFaultModes } from '../../../lab/world/facilitator/fault-modes.js';

describe('the ways in which a simulated facilitator fails', () => {
  const { modes, words } = settleFaultModes(900);

  it('are drawn until each had its turn, and all words of real facilitators with them', () => {
    const wordsInADeck = 80;
    const decks = Math.ceil(words.length / wordsInADeck);
    const calls = decks * (modes.length + wordsInADeck);
    const drawn = drawFaultModes(seededRandom(1), { modes, words }, { calls, failingShare: 1, wordsInADeck });
    const counts = new Map<string, number>();
    for (const { name } of drawn) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const { name } of modes) assert.equal(counts.get(name), decks, name);
    for (const { name } of words) assert.ok([1, 2].includes(counts.get(name) ?? 0), name);
  });
});
