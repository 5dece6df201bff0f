import { nowMs } from '../../shared/clock.js';
import { startFacilitator } from '../../test/support/facilitator.js';
import { seededRandom } from '../../test/support/seeded-random.js';
import { becomeActor } from './actor.js';
import type { FacilitatorEntry } from './entries.js';
import { Journal } from './journal.js';
import { drawMoods, isLie, MOODS } from './moods.js';

/** More calls than there will be. */
const CALLS = 40_000;

const { settings, ready, hear } = becomeActor<{
  seed: number;
  network: string;
  chain: string;
  journal: string;
}>();
const journal = new Journal<FacilitatorEntry>(settings.journal);
const random = seededRandom(settings.seed);
const facilitator = await startFacilitator({
  networks: [settings.network],
  strict: true,
  async onSettled({ from, to, amount, asset, paymentId, transaction }) {
    const body = JSON.stringify({ from, to, amount: String(amount), asset, nonce: paymentId, transaction });
    const moved = await fetch(settings.chain, { method: 'POST', body });
    if (!moved.ok) throw new Error(`the chain answered ${moved.status}`);
  },
});
let isHealed = false;

for (const endpoint of ['supported', 'verify', 'settle'] as const) {
  const moods = drawMoods(random, MOODS[endpoint], CALLS);
  facilitator[endpoint].next(...moods.map(({ behave }) => behave()));
  void keepBooks(
    endpoint,
    moods.map(({ name }) => name),
  );
}

async function keepBooks(endpoint: FacilitatorEntry['endpoint'], moods: string[]): Promise<void> {
  for (let count = 1; ; count += 1) {
    const { paymentId: nonce, done } = await facilitator.waitForCall(endpoint, count);
    const at = nowMs();
    const mood = isHealed ? 'honest' : (moods[count - 1] ?? 'honest');
    void done.then(() => journal.write({ at, ms: nowMs() - at, endpoint, nonce, mood, lied: isLie(mood) }));
  }
}

hear({
  heal() {
    isHealed = true;
    for (const dial of [facilitator.supported, facilitator.verify, facilitator.settle]) dial.honest();
  },
});
ready({ url: facilitator.url });
