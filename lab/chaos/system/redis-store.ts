import { Redis } from 'ioredis';
import type { GuardedProcess } from '../../../local/toolchain/guarded-process.js';
import { findFreePort } from '../../world/http/listen.js';
import { spawnRedis } from '../../world/processes/services.js';
import { RedisClock } from '../../world/proxy/redis-clock.js';

/** A real Redis that loses its data at a restart. */
export class RedisStore {
  readonly #port: number;
  readonly #clock: RedisClock;
  #server: GuardedProcess;

  static async start(): Promise<RedisStore> {
    const port = await findFreePort();
    const server = await spawnRedis(port);
    return new RedisStore(port, server, await RedisClock.start(`redis://127.0.0.1:${port}`));
  }

  private constructor(port: number, server: GuardedProcess, clock: RedisClock) {
    this.#port = port;
    this.#server = server;
    this.#clock = clock;
  }

  get url(): string {
    return this.#clock.url;
  }

  /** Sets the clock that scripts read ahead or back; 0 sets it right. */
  setClock(ms: number): void {
    this.#clock.set(ms);
  }

  async empty(): Promise<void> {
    const client = new Redis({ host: '127.0.0.1', port: this.#port, maxRetriesPerRequest: 1 });
    try {
      await client.flushall();
    } finally {
      client.disconnect();
    }
  }

  async restart(): Promise<void> {
    await this.#server.stop();
    this.#server = await spawnRedis(this.#port);
  }

  async stop(): Promise<void> {
    await this.#clock.stop();
    await this.#server.stop();
  }
}
