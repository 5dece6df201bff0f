import type { Random } from '../../world/chance/seeded-random.js';
import { pick } from '../../world/chance/seeded-random.js';
import { slow } from '../../world/facilitator/dial.js';
import type { FakeFacilitator } from '../../world/facilitator/facilitator.js';
import { settleFaultModes } from '../../world/facilitator/fault-modes.js';

/** A fault of one facilitator while the other is honest. */
export interface Trouble {
  name: string;
  /** The facilitator gives no verdict: links on networks that only it serves answer 503. */
  isAway: boolean;
  begin(facilitator: FakeFacilitator, random: Random): Promise<void>;
}

const FOR_LONG_MS = 3_600_000;
const SLOW_MS = 700;
const TOO_SLOW_MS = 6000;
/** Clear refusals although the money moves, before the answer or after it. */
const LIES = settleFaultModes(TOO_SLOW_MS).modes.filter(({ lies }) => lies);

export const TROUBLES: readonly Trouble[] = [
  { name: 'dies', isAway: true, begin: ({ crash }) => crash(FOR_LONG_MS) },
  {
    name: 'hangs',
    isAway: true,
    async begin({ supported, verify, settle }) {
      for (const dial of [supported, verify, settle]) dial.holdAll();
    },
  },
  {
    name: 'lies',
    isAway: false,
    async begin({ settle }, random) {
      settle.choose(() => pick(random, LIES).behaviour);
    },
  },
  {
    name: 'is slow',
    isAway: false,
    async begin({ verify, settle }) {
      for (const dial of [verify, settle]) dial.always(slow(SLOW_MS));
    },
  },
];

export async function endTrouble({ supported, verify, settle, revive }: FakeFacilitator): Promise<void> {
  for (const dial of [supported, verify, settle]) {
    dial.honest();
    dial.releaseAll();
  }
  await revive();
}
