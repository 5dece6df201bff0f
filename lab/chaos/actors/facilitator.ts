import { nowMs } from '../../../shared/process/clock.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import { startFacilitator } from '../../world/facilitator/facilitator.js';
import { FACILITATOR_LIMITS } from '../stage/facilitator-limits.js';
import { becomeActor } from './actor.js';
import { callerOf, watchForHangUps } from './callers.js';
import type { FacilitatorEntry } from './entries.js';
import { Journal } from './journal.js';
import { drawMoods, isLie, MOODS } from './moods.js';
import type { Carried, WantedTransfer } from './transfers.js';

/** More calls than there will be. */
const CALLS = 40_000;

const { settings, ready, hear } = becomeActor<{
  seed: number;
  /** By network: where it has transfers carried out. */
  chains: Record<string, string>;
  journal: string;
}>();
const journal = new Journal<FacilitatorEntry>(settings.journal);
const random = seededRandom(settings.seed);
const hungUp = watchForHangUps('/settle');
const facilitator = await startFacilitator({
  networks: Object.keys(settings.chains),
  strict: true,
  async onSettled({ network, from, to, amount, asset, paymentId, transaction }) {
    const terms = termsOf(facilitator.callsOf('settle', paymentId).at(-1)?.body);
    const wanted: WantedTransfer = {
      ...{ nonce: paymentId, transaction, from, to, amount: String(amount), asset },
      ...terms,
    };
    const answer = await fetch(settings.chains[network] ?? '', {
      method: 'POST',
      body: JSON.stringify(wanted),
    });
    const { succeeded } = (await answer.json()) as Carried;
    // It has sent it and sees it fail: its caller hears nothing.
    if (!succeeded) throw new Error(`the chain did not carry out ${paymentId}`);
  },
});
let isHealed = false;
facilitator.edge.limitTo(FACILITATOR_LIMITS);

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
    const { paymentId: nonce, headers, done } = await facilitator.waitForCall(endpoint, count);
    const at = nowMs();
    const mood = isHealed ? 'honest' : (moods[count - 1] ?? 'honest');
    const call = { at, endpoint, nonce, mood, lied: isLie(mood), caller: callerOf(headers) };
    void done.then(() => {
      const hungUpAt = hungUp.get(headers);
      const hungUpAfterMs = hungUpAt === undefined ? undefined : hungUpAt - at;
      journal.write({ ...call, ms: nowMs() - at, hungUpAfterMs });
    });
  }
}

/** What the chain judges: until when an authorization is good, or what was signed on Solana. */
function termsOf(body: unknown): Pick<WantedTransfer, 'validBefore' | 'signedTransaction'> {
  const { paymentPayload } = body as FacilitatorRequest;
  const { payload } = paymentPayload;
  return 'transaction' in payload
    ? { signedTransaction: payload.transaction }
    : { validBefore: Number(payload.authorization.validBefore) };
}

hear({
  heal() {
    isHealed = true;
    for (const dial of [facilitator.supported, facilitator.verify, facilitator.settle]) dial.honest();
  },
});
ready({ url: facilitator.url });
