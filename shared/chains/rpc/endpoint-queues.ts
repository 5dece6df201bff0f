import type { PaceOptions } from '../../limits/adaptive-pace.js';
import type { Logger } from '../../process/logger.js';
import type { Network } from '../networks/networks.js';
import { fetchFromEndpoint } from './endpoint-fetch.js';
import { EndpointQueue } from './endpoint-queue.js';
import type { SlotsOptions } from './endpoint-slots.js';
import type { ChainFetch } from './rpc-fetch.js';

/** The queue of one endpoint, for metrics. */
export interface EndpointState {
  /** CAIP-2, of the first network that used the endpoint. */
  network: string;
  waitingCalls: number;
  pausedMs: number;
  /** Answers that limited a call, since the process started. */
  limitedAnswers: number;
}

export interface EndpointQueuesOptions extends SlotsOptions {
  fetch?: ChainFetch | undefined;
  logger?: Pick<Logger, 'info' | 'warn'> | undefined;
  /** The pauses of an endpoint that limits. */
  pace?: Pick<PaceOptions, 'firstPauseMs' | 'longestPauseMs' | 'overAfterMs'> | undefined;
}

/**
 * One queue for each endpoint, for every read of a chain in this process. There are as many queues as configured networks.
 * Processes share nothing: each learns from the endpoint's answers how much of the limit the others leave.
 */
export class EndpointQueues {
  readonly #options: EndpointQueuesOptions;
  readonly #queues = new Map<string, { network: string; queue: EndpointQueue }>();

  constructor(options: EndpointQueuesOptions = {}) {
    this.#options = options;
  }

  of(url: string, { caip2: network }: Network): EndpointQueue {
    const known = this.#queues.get(url);
    if (known !== undefined) return known.queue;
    const { fetch: send = fetchFromEndpoint, pace, checksWhileLimited, comeBack, logger } = this.#options;
    const queue = new EndpointQueue({
      send,
      checksWhileLimited,
      comeBack,
      pace: {
        ...pace,
        onLimited: (pauseMs) =>
          logger?.warn({ event: 'chain.endpoint_limits', network, pause_ms: Math.ceil(pauseMs) }),
        onLimitOver: () => logger?.info({ event: 'chain.endpoint_limits_no_more', network }),
      },
    });
    this.#queues.set(url, { network, queue });
    return queue;
  }

  states(): EndpointState[] {
    return [...this.#queues.values()].map(({ network, queue }) => ({
      network,
      waitingCalls: queue.waiting,
      pausedMs: queue.pausedMs,
      limitedAnswers: queue.limited,
    }));
  }
}
