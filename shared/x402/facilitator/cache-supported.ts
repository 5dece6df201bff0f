import { nowMs } from '../../process/clock.js';
import { inTurns } from '../../process/in-turns.js';
import type { Logger } from '../../process/logger.js';
import { waitAtMost } from '../../process/timeout.js';
import { parseJsonObject } from '../../values/json-object.js';
import { parseSupported, type SupportedKinds } from '../requirements.js';
import { type FacilitatorReply, nameError } from './facilitator-answers.js';

/** A copy of this age is refreshed while it serves, so that a link with steady visitors never waits. */
const REFRESH_AT_MS = 45_000;
/** An older copy serves only when a refresh fails or is slow. */
const FRESH_MS = 60_000;
const USABLE_MS = 600_000;
/** After a failed refresh the cached copy is used this long before the next try. */
const RETRY_MS = 5_000;
/** How often an ongoing failure is logged. */
const LOG_EVERY_MS = 60_000;
/** A refresh that takes longer is not waited for where a copy or another facilitator may serve. */
const SLOW_MS = 1000;
/** A failure that is older says nothing about now: without visitors nothing is asked. */
const SILENT_MS = 120_000;

interface SupportedCache {
  /**
   * Refreshes the copy when it is due. With a usable copy it waits for a second, or not at all while the facilitator is silent;
   * with none for the answer. Undefined when the facilitator does not answer and no usable copy is left.
   */
  read(): Promise<SupportedKinds | undefined>;
  /** The usable copy, without a call. */
  known(): SupportedKinds | undefined;
  /** The last refresh failed lately, or the present one is slow. */
  isSilent(): boolean;
}

interface Logging {
  logger: Logger | undefined;
  /** The facilitator's name in the log. */
  name: string;
  hint: string;
}

/** Caches the supported kinds. A failure to read them is logged when it begins, every minute, and when it ends. */
export function cacheSupported(
  ask: () => Promise<FacilitatorReply>,
  { logger, name, hint }: Logging,
): SupportedCache {
  let copy: { kinds: SupportedKinds; atMs: number } | undefined;
  let askAgainAtMs = 0;
  let asking: Promise<void> | undefined;
  let askedAtMs = 0;
  let failedAtMs: number | undefined;
  let loggedAtMs: number | undefined;
  const known = (): SupportedKinds | undefined =>
    copy !== undefined && nowMs() - copy.atMs <= USABLE_MS ? copy.kinds : undefined;

  async function refresh(): Promise<void> {
    const startedAtMs = nowMs();
    askedAtMs = startedAtMs;
    const reply = await ask().catch((error: unknown) => ({ error }));
    const kinds =
      'status' in reply && reply.status === 200 ? parseSupported(parseJsonObject(reply.body)) : undefined;
    if (kinds === undefined) {
      askAgainAtMs = nowMs() + (copy === undefined ? 0 : RETRY_MS);
      failedAtMs = nowMs();
      logFailure(reply);
      return;
    }
    copy = { kinds, atMs: startedAtMs };
    askAgainAtMs = startedAtMs + REFRESH_AT_MS;
    failedAtMs = undefined;
    if (loggedAtMs !== undefined) logger?.info({ event: 'facilitator.supported_known', facilitator: name });
    loggedAtMs = undefined;
  }

  function logFailure(reply: FacilitatorReply): void {
    if (loggedAtMs !== undefined && nowMs() - loggedAtMs < LOG_EVERY_MS) return;
    loggedAtMs = nowMs();
    const line = { event: 'facilitator.supported_unknown', facilitator: name, why: why(reply) };
    if (known() !== undefined) logger?.warn({ ...line, hint: 'An earlier answer serves up to ten minutes.' });
    else logger?.error({ ...line, hint });
  }

  const isSilent = (): boolean =>
    (failedAtMs !== undefined && nowMs() - failedAtMs < SILENT_MS) ||
    (asking !== undefined && nowMs() - askedAtMs > SLOW_MS);

  return {
    async read() {
      const untilAskedMs = askAgainAtMs - nowMs();
      // A wait longer than any pause between two calls means that the clock was set back.
      if (untilAskedMs > 0 && untilAskedMs <= REFRESH_AT_MS) return known();
      const isFresh = copy !== undefined && nowMs() - copy.atMs < FRESH_MS;
      const serves = known() !== undefined;
      const wasSilent = isSilent();
      asking ??= refresh().finally(() => {
        asking = undefined;
      });
      if (!serves) {
        await asking;
        await new Promise<void>(inTurns);
      } else if (!isFresh && !wasSilent) await waitAtMost(SLOW_MS, asking);
      return known();
    },
    known,
    isSilent,
  };
}

function why(reply: FacilitatorReply): string {
  if ('error' in reply) return nameError(reply.error);
  return reply.status === 200 ? 'HTTP 200 without JSON that has kinds' : `HTTP ${reply.status}`;
}
