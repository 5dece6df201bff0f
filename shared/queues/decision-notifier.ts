import { Redis } from 'ioredis';
import type { RedisConfig } from '../config/config.js';
import { batchPerTurn } from '../process/batch-per-turn.js';
import type { Logger } from '../process/logger.js';
import { openWorkerRedis, type RedisClient } from './connection.js';
import { QUEUE_PREFIX } from './queue-settings.js';

/**
 * Notifies web processes of decided payments, so that waiting buyers are answered at once. A lost notification, or a
 * missing Redis, costs only time: web processes also poll the rows.
 */
const CHANNEL = `${QUEUE_PREFIX}:decided`;

export type NotifyDecided = (paymentId: string) => void;

/** Payments that are decided in one turn of the event loop share one message. */
export function decisionNotifier(redis: RedisClient | undefined): NotifyDecided {
  if (redis === undefined) return () => {};
  return batchPerTurn((ids) => {
    redis.publish(CHANNEL, ids.join(' ')).catch(() => undefined); // Web processes poll the rows as well.
  });
}

export type SubscribeToDecisions = (listener: (paymentId: string) => void) => DecisionSubscription;

interface DecisionSubscription {
  /** Whether a notification would arrive now. */
  isOn(): boolean;
  stop(): void;
}

export function decisionSubscriber(redis: RedisConfig | undefined, logger: Logger): SubscribeToDecisions {
  return (listener) => {
    if (redis === undefined) return { isOn: () => false, stop: () => {} };
    const subscriber = openWorkerRedis(redis, logger);
    // Resubscribes in the `ready` listener: ioredis' own resubscription ends the process with an unhandled rejection when
    // the connection breaks at that moment. In a cluster ioredis subscribes at another node instead.
    if (subscriber instanceof Redis) subscriber.options.autoResubscribe = false;
    subscriber.on('ready', () => {
      subscriber.subscribe(CHANNEL).catch(() => undefined); // The connection broke: the next one subscribes.
    });
    subscriber.on('message', (_channel: string, ids: string) => {
      for (const id of ids.split(' ')) listener(id);
    });
    return { isOn: () => subscriber.status === 'ready', stop: () => subscriber.disconnect() };
  };
}
