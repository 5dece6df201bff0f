import { nowMs } from '../../../shared/process/clock.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import { startFacilitator } from '../../world/facilitator/facilitator.js';
import {
  drawFaultModes,
  type FaultMode,
  settleFaultModes,
  supportedFaultModes,
  verifyFaultModes,
} from '../../world/facilitator/fault-modes.js';
import type { FacilitatorEntry } from '../journals/entries.js';
import { Journal } from '../journals/journal.js';
import { connectToRun } from './actor.js';
import { callerOf, watchForHangUps } from './callers.js';
import { FACILITATOR_LIMITS } from './facilitator-limits.js';
import type { Executed, WantedTransfer } from './transfers.js';

/** More calls than a run makes; one in five fails. */
const DRAWN = { calls: 40_000, failingShare: 0.2, wordsInADeck: 80 };
/** Longer than the service's timeouts, and shorter than the time for which it counts a timed-out call as running. */
const FAULT_MODES = {
  supported: supportedFaultModes(3000),
  verify: verifyFaultModes(3000),
  settle: settleFaultModes(6000),
};

const { settings, ready, onOrder } = connectToRun<{
  seed: number;
  /** The URLs that execute transfers, by network. */
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
    const { succeeded } = (await answer.json()) as Executed;
    // The facilitator has sent the transaction and it failed: the caller gets no answer.
    if (!succeeded) throw new Error(`the transaction of ${paymentId} failed`);
  },
});
let hasRecovered = false;
facilitator.edge.limitTo(FACILITATOR_LIMITS);

for (const endpoint of ['supported', 'verify', 'settle'] as const) {
  const faultModes = drawFaultModes(random, FAULT_MODES[endpoint], DRAWN);
  facilitator[endpoint].next(...faultModes.map(({ behaviour }) => behaviour));
  void recordCalls(endpoint, faultModes);
}

async function recordCalls(endpoint: FacilitatorEntry['endpoint'], faultModes: FaultMode[]): Promise<void> {
  for (let count = 1; ; count += 1) {
    const { paymentId: nonce, headers, done } = await facilitator.waitForCall(endpoint, count);
    const at = nowMs();
    const drawn = hasRecovered ? undefined : faultModes[count - 1];
    const { name: faultMode, lies: lied } = drawn ?? { name: 'honest', lies: false };
    const call = { at, endpoint, nonce, faultMode, lied, caller: callerOf(headers) };
    void done.then(() => {
      const hungUpAt = hungUp.get(headers);
      const hungUpAfterMs = hungUpAt === undefined ? undefined : hungUpAt - at;
      journal.write({ ...call, ms: nowMs() - at, hungUpAfterMs });
    });
  }
}

/** The terms that the chain checks: an authorization's end, or the message signed on Solana. */
function termsOf(body: unknown): Pick<WantedTransfer, 'validBefore' | 'signedTransaction'> {
  const { paymentPayload } = body as FacilitatorRequest;
  const { payload } = paymentPayload;
  return 'transaction' in payload
    ? { signedTransaction: payload.transaction }
    : { validBefore: Number(payload.authorization.validBefore) };
}

onOrder({
  recover() {
    hasRecovered = true;
    for (const dial of [facilitator.supported, facilitator.verify, facilitator.settle]) dial.honest();
  },
});
ready({ url: facilitator.url });
