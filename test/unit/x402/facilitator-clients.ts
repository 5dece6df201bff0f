import { type FakeFacilitator, startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { openRateLimiter } from '../../../shared/limits/rate-limiter.js';
import { openThrottle } from '../../../shared/limits/throttle.js';
import { resetClock } from '../../../shared/process/clock.js';
import type { FacilitatorAuth } from '../../../shared/secrets/facilitator-secret.js';
import { createFacilitator, type Facilitator } from '../../../shared/x402/facilitator/facilitator.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { loggerWithLines } from '../../support/log-lines.js';
import { entryFor } from './offers.js';

export const NAMED = { name: 'facilitator.example', variable: 'FACILITATOR_URL' };

export const request = { paymentRequirements: entryFor('eip155:84532') } as never as FacilitatorRequest;

const NO_AUTH: FacilitatorAuth = { kind: 'none' };

interface ClientSettings {
  auth?: FacilitatorAuth;
  timeoutMs?: number;
  /** `timeoutMs` when it is not set. */
  settleTimeoutMs?: number;
  maxConnections?: number | undefined;
  /** How many connections this process may have. */
  share?: number;
}

interface FacilitatorClients {
  /** The facilitator of the current story. */
  fake(): FakeFacilitator;
  client(settings?: ClientSettings): Facilitator;
  /** The log lines of all clients of the current story. */
  lines: Record<string, unknown>[];
}

/** Each story of the surrounding suite has a facilitator of its own; its clients are closed after it. */
export function openFacilitatorClients(): FacilitatorClients {
  let fake: FakeFacilitator;
  const open: Facilitator[] = [];
  const { logger, lines } = loggerWithLines();
  beforeEach(async () => {
    lines.length = 0;
    fake = await startFacilitator();
  });
  afterEach(async () => {
    resetClock();
    await Promise.all(open.splice(0).map((facilitator) => facilitator.close()));
    await fake.close();
  });
  return {
    fake: () => fake,
    lines,
    client({ auth = NO_AUTH, timeoutMs = 5000, settleTimeoutMs = timeoutMs, maxConnections, share } = {}) {
      const config = { ...NAMED, url: fake.url, auth, timeoutMs, settleTimeoutMs, maxConnections };
      const throttle =
        share === undefined
          ? undefined
          : openThrottle({ rate: openRateLimiter(() => 0), slots: () => share });
      const facilitator = createFacilitator(config, { logger, ...(throttle && { throttle }) });
      open.push(facilitator);
      return facilitator;
    },
  };
}
