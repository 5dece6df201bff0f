import { Redis } from 'ioredis';
import type { GuardedProcess } from '../../../local/toolchain/guarded-process.js';
import { findFreePort, spawnRedis } from '../../world/processes/services.js';

/** A real Redis that loses its data at a restart. */
export class RedisStore {
  readonly #port: number;
  #server: GuardedProcess;

  static async start(): Promise<RedisStore> {
    const port = await findFreePort();
    return new RedisStore(port, await start(port));
  }

  private constructor(port: number, server: GuardedProcess) {
    this.#port = port;
    this.#server = server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
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
    this.#server = await start(this.#port);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }
}

async function start(port: number): Promise<GuardedProcess> {
  const server = await spawnRedis(port);
  if (server.hasExited()) throw new Error(`redis-server did not start:\n${server.recentOutput()}`);
  return server;
}
