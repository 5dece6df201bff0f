import { Redis } from 'ioredis';
import type { GuardedProcess } from '../../local/guarded-process.js';
import { TcpProxy } from '../../test/support/pause-points.js';
import { findFreePort, spawnRedis } from '../../test/support/services.js';

/** A real Redis behind a proxy; what it held is gone when it is started again. */
export class RedisStore {
  readonly #port: number;
  readonly proxy: TcpProxy;
  #server: GuardedProcess;

  static async start(): Promise<RedisStore> {
    const port = await findFreePort();
    const server = await start(port);
    return new RedisStore(port, server, await TcpProxy.start({ host: '127.0.0.1', port }));
  }

  private constructor(port: number, server: GuardedProcess, proxy: TcpProxy) {
    this.#port = port;
    this.#server = server;
    this.proxy = proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.proxy.port}`;
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
    await this.proxy.refuse();
    await this.#server.stop();
  }
}

async function start(port: number): Promise<GuardedProcess> {
  const server = await spawnRedis(port);
  if (server.hasExited()) throw new Error(`redis-server did not start:\n${server.recentOutput()}`);
  return server;
}
