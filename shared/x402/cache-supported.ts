import { nowMs } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import { type FacilitatorReply, nameError } from './facilitator-answers.js';
import { parseJsonObject } from './json-object.js';
import { parseSupported, type SupportedKinds } from './requirements.js';

const FRESH_MS = 60_000;
const USABLE_MS = 600_000;
/** After a failed refresh the cached copy is used this long before the next try. */
const RETRY_MS = 5_000;
/** How often an ongoing failure is logged. */
const LOG_EVERY_MS = 60_000;

/** Caches the supported kinds. A failure to read them is logged when it begins, every minute, and when it ends. */
export function cacheSupported(
  ask: () => Promise<FacilitatorReply>,
  logger: Logger | undefined,
): () => Promise<SupportedKinds | undefined> {
  let copy: { kinds: SupportedKinds; atMs: number } | undefined;
  let askAgainAtMs = 0;
  let asking: Promise<void> | undefined;
  let loggedAtMs: number | undefined;
  const usable = (): SupportedKinds | undefined =>
    copy !== undefined && nowMs() - copy.atMs <= USABLE_MS ? copy.kinds : undefined;

  async function refresh(): Promise<void> {
    const startedAtMs = nowMs();
    const reply = await ask();
    const kinds =
      'status' in reply && reply.status === 200 ? parseSupported(parseJsonObject(reply.body)) : undefined;
    if (kinds === undefined) {
      askAgainAtMs = nowMs() + (copy === undefined ? 0 : RETRY_MS);
      logFailure(reply);
      return;
    }
    copy = { kinds, atMs: startedAtMs };
    askAgainAtMs = startedAtMs + FRESH_MS;
    if (loggedAtMs !== undefined) logger?.info({ event: 'facilitator.supported_known' });
    loggedAtMs = undefined;
  }

  function logFailure(reply: FacilitatorReply): void {
    if (loggedAtMs !== undefined && nowMs() - loggedAtMs < LOG_EVERY_MS) return;
    loggedAtMs = nowMs();
    const line = { event: 'facilitator.supported_unknown', why: why(reply) };
    if (usable() !== undefined)
      logger?.warn({ ...line, hint: 'An earlier answer serves up to ten minutes.' });
    else logger?.error({ ...line, hint: 'No link can be paid: each answers 503. Look at FACILITATOR_URL.' });
  }

  return async () => {
    if (nowMs() >= askAgainAtMs) {
      asking ??= refresh().finally(() => {
        asking = undefined;
      });
      await asking;
    }
    return usable();
  };
}

function why(reply: FacilitatorReply): string {
  if ('error' in reply) return nameError(reply.error);
  return reply.status === 200 ? 'HTTP 200 without JSON that has kinds' : `HTTP ${reply.status}`;
}
