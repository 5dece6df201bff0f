import { lruCache } from '../../shared/limits/lru-cache.js';
import { SLOW_MS } from './adaptive-concurrency.js';
import { isSuccess } from './post.js';
import type { Priority, Sender, Sent } from './sender.js';

const MOST_ENDPOINTS = 10_000;

/**
 * Sends to endpoints that answer well by one sender and to all others by another, so that receivers which fail, hang or
 * answer without end take no time from the good ones. The second sender is opened for the first endpoint that did not answer
 * well. From then on it also sends to endpoints without a known answer.
 */
export function separateReceivers(open: (priority: Priority) => Sender): Sender {
  const normalSender = open('normal');
  let lowSender: Sender | undefined;
  /** Whether the last answer of an endpoint was good. */
  const wasGood = lruCache<boolean>(MOST_ENDPOINTS);
  return {
    async send(webhook) {
      const { endpointId } = webhook;
      const isGood = wasGood.get(endpointId) ?? lowSender === undefined;
      if (!isGood) lowSender ??= open('low');
      try {
        const sent = await ((!isGood && lowSender) || normalSender).send(webhook);
        wasGood.set(endpointId, isGoodAnswer(sent));
        return sent;
      } catch (error) {
        wasGood.set(endpointId, false);
        throw error;
      }
    },
    async close() {
      await Promise.all([normalSender.close(), lowSender?.close()]);
    },
  };
}

function isGoodAnswer({ result, durationMs }: Sent): boolean {
  const isWhole = result.kind === 'answered' && result.isCutOff !== true;
  return isSuccess(result) && isWhole && durationMs <= SLOW_MS;
}
