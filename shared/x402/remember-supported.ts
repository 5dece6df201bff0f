import { nowMs } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import { type FacilitatorReply, nameError } from './facilitator-answers.js';
import { parseJsonObject } from './json-object.js';
import { parseSupported, type SupportedKinds } from './requirements.js';

const FRESH_MS = 60_000;
const USABLE_MS = 600_000;
/** After a failed refresh the old copy serves this long before the next try. */
const RETRY_MS = 5_000;
/** While it lasts. */
const TOLD_EVERY_MS = 60_000;

/** What the facilitator can settle; why it is not known is told when it begins, every minute while it lasts, and at its end. */
export function rememberSupported(
  ask: () => Promise<FacilitatorReply>,
  logger: Logger | undefined,
): () => Promise<SupportedKinds | undefined> {
  let copy: { kinds: SupportedKinds; atMs: number } | undefined;
  let askAgainAtMs = 0;
  let asking: Promise<void> | undefined;
  let toldAtMs: number | undefined;
  const usable = (): SupportedKinds | undefined =>
    copy !== undefined && nowMs() - copy.atMs <= USABLE_MS ? copy.kinds : undefined;

  async function refresh(): Promise<void> {
    const startedAtMs = nowMs();
    const reply = await ask();
    const kinds =
      'status' in reply && reply.status === 200 ? parseSupported(parseJsonObject(reply.body)) : undefined;
    if (kinds === undefined) {
      askAgainAtMs = nowMs() + (copy === undefined ? 0 : RETRY_MS);
      tellWhy(reply);
      return;
    }
    copy = { kinds, atMs: startedAtMs };
    askAgainAtMs = startedAtMs + FRESH_MS;
    if (toldAtMs !== undefined) logger?.info({ event: 'facilitator.supported_known' });
    toldAtMs = undefined;
  }

  function tellWhy(reply: FacilitatorReply): void {
    if (toldAtMs !== undefined && nowMs() - toldAtMs < TOLD_EVERY_MS) return;
    toldAtMs = nowMs();
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
