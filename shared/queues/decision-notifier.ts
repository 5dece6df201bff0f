import { Redis } from 'ioredis';
import type { RedisConfig } from '../config/config.js';
import { batchPerTurn } from '../process/batch-per-turn.js';
import type { Logger } from '../process/logger.js';
import { openWorkerRedis, type RedisClient } from './connection.js';
import { QUEUE_PREFIX } from './queue-settings.js';

/**
 * Tells the web processes that payments are decided, so that buyers who wait are answered at once. Nothing relies on
 * it: a ring that is lost, or that there is no Redis for, is made up for by the next look at the rows.
 */
const CHANNEL = `${QUEUE_PREFIX}:decided`;

export type NotifyDecided = (paymentId: string) => void;

/** Payments that are decided in one turn of the event loop are told of together. */
export function decisionNotifier(redis: RedisClient | undefined): NotifyDecided {
  if (redis === undefined) return () => {};
  return batchPerTurn((ids) => {
    redis.publish(CHANNEL, ids.join(' ')).catch(() => undefined); // Lost: the rows are looked at all the same.
  });
}

export type SubscribeToDecisions = (listener: (paymentId: string) => void) => DecisionSubscription;

export interface DecisionSubscription {
  /** Whether a ring would be heard now. */
  isOn(): boolean;
  stop(): void;
}

export function decisionSubscriber(redis: RedisConfig | undefined, logger: Logger): SubscribeToDecisions {
  return (listener) => {
    if (redis === undefined) return { isOn: () => false, stop: () => {} };
    const subscriber = openWorkerRedis(redis, logger);
    // By hand: what ioredis subscribes to again by itself ends the process when it is cut off just then. Of a cluster it
    // asks another node instead, and hears the same there.
    if (subscriber instanceof Redis) subscriber.options.autoResubscribe = false;
    subscriber.on('ready', () => {
      subscriber.subscribe(CHANNEL).catch(() => undefined); // Cut off: the next connection does it.
    });
    subscriber.on('message', (_channel: string, ids: string) => {
      for (const id of ids.split(' ')) listener(id);
    });
    return { isOn: () => subscriber.status === 'ready', stop: () => subscriber.disconnect() };
  };
}
