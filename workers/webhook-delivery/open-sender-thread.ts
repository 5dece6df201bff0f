import { Worker } from 'node:worker_threads';
import { batchPerTurn } from '../../shared/process/batch-per-turn.js';
import type { OpenSender, OutgoingWebhook, Priority, Sender, Sent } from './sender.js';

export interface ToThread {
  number: number;
  webhook: OutgoingWebhook;
}

export interface FromThread {
  number: number;
  sent: Sent;
}

export type ThreadOptions = Parameters<OpenSender>[0] & { priority?: Priority };

interface Waiting {
  since: number;
  resolve(sent: Sent): void;
  reject(error: Error): void;
}

const CHECK_EVERY_MS = 1000;
/**
 * Longer than a try and the wait for its turn. Shorter than a lease: a delivery whose lease ends is taken again, and must not
 * be given to the thread that hangs.
 */
export const STUCK_AFTER_MS = 25_000;
/** The bodies in flight are outside of this heap. */
const HEAP = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/**
 * Sends webhooks in a thread of its own: the main thread, which settles payments, has no connection to a merchant's server.
 * When the thread ends, or hangs, the outcome of the webhooks in it is unknown. Their leases expire, and a new thread sends them
 * again.
 */
export function openSenderThread(entry: URL, options: ThreadOptions, stuckAfterMs = STUCK_AFTER_MS): Sender {
  // The thread starts at once, because it takes some 100 ms to load its modules.
  let current = new SenderThread(entry, options, stuckAfterMs);
  return {
    send(webhook) {
      if (current.hasEnded) current = new SenderThread(entry, options, stuckAfterMs);
      return current.send(webhook);
    },
    close: async () => await current.end(),
  };
}

class SenderThread {
  readonly #worker: Worker;
  /** Webhooks without an answer yet, by number, the longest waiting first. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #check: NodeJS.Timeout;
  /** A message itself costs more than its content. */
  readonly #post = batchPerTurn<ToThread>((batch) => {
    this.#worker.postMessage(
      batch,
      batch.flatMap(({ webhook }) => ownMemory(webhook.body) ?? []),
    );
  });
  #lastNumber = 0;
  hasEnded = false;

  constructor(entry: URL, options: ThreadOptions, stuckAfterMs: number) {
    // The thread gets neither the settings of the process nor the modules that the process loads first by `--import`.
    this.#worker = new Worker(entry, { workerData: options, resourceLimits: HEAP, execArgv: [], env: {} });
    this.#worker.on('message', (batch: FromThread[]) => {
      for (const { number, sent } of batch) {
        this.#waiting.get(number)?.resolve(sent);
        this.#waiting.delete(number);
      }
    });
    this.#worker.on('error', (error: Error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the thread that sends webhooks has ended')));
    this.#check = setInterval(() => {
      const [longest] = this.#waiting.values();
      if (longest !== undefined && performance.now() - longest.since > stuckAfterMs) void this.end();
    }, CHECK_EVERY_MS);
    this.#check.unref();
  }

  send(webhook: OutgoingWebhook): Promise<Sent> {
    return new Promise((resolve, reject) => {
      this.#lastNumber += 1;
      const body = ownMemory(webhook.body) === undefined ? new Uint8Array(webhook.body) : webhook.body;
      this.#post({ number: this.#lastNumber, webhook: { ...webhook, body } });
      this.#waiting.set(this.#lastNumber, { since: performance.now(), resolve, reject });
    });
  }

  /** Ends even a thread that is in an endless loop. */
  async end(): Promise<void> {
    this.hasEnded = true;
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.hasEnded = true;
    clearInterval(this.#check);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** The memory that a large body has for itself. A small Buffer shares Node's pool of memory with others, and is copied. */
function ownMemory({ buffer }: Uint8Array): ArrayBuffer | undefined {
  return buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize ? buffer : undefined;
}
