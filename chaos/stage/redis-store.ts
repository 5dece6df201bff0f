import { Redis } from 'ioredis';
import { type GuardedProcess, spawnGuarded } from '../../local/guarded-process.js';
import { TcpProxy } from '../../test/support/pause-points.js';
import { findFreePort } from './free-port.js';

/** A real Redis behind a proxy; what it held is gone when it is started again. */
export class RedisStore {
  readonly #folder: string;
  readonly #port: number;
  readonly proxy: TcpProxy;
  #server: GuardedProcess;

  static async start(folder: string): Promise<RedisStore> {
    const port = await findFreePort();
    const server = await spawnRedis(folder, port);
    return new RedisStore(folder, port, server, await TcpProxy.start({ host: '127.0.0.1', port }));
  }

  private constructor(folder: string, port: number, server: GuardedProcess, proxy: TcpProxy) {
    this.#folder = folder;
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
    this.#server = await spawnRedis(this.#folder, this.#port);
  }

  async stop(): Promise<void> {
    await this.proxy.refuse();
    await this.#server.stop();
  }
}

/** Resolves when it takes connections. */
async function spawnRedis(folder: string, port: number): Promise<GuardedProcess> {
  const options = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: folder, daemonize: 'no' };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  let announceReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    announceReady = resolve;
  });
  const server = spawnGuarded('redis-server', args, {
    onOutput(text) {
      if (text.includes('Ready to accept connections')) announceReady();
    },
  });
  await Promise.race([ready, server.exited]);
  if (server.hasExited()) throw new Error(`redis-server did not start:\n${server.recentOutput()}`);
  return server;
}
