import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../local/embedded-postgres.js';
import { TcpProxy } from '../../test/support/pause-points.js';

/** Commits outlive the server's processes, which is all that is killed here; the machine's disk is not tested. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 200 };

/** A real Postgres behind a proxy, which can be stopped or crashed and started again on its data. */
export class PostgresStore {
  readonly #folder: string;
  readonly proxy: TcpProxy;
  /** Through the proxy, as the service reaches it. */
  readonly url: string;
  #server: EmbeddedPostgres;

  static async start(folder: string): Promise<PostgresStore> {
    const server = await startEmbeddedPostgres({ dir: folder, settings: SETTINGS });
    const proxy = await TcpProxy.before(server.url);
    return new PostgresStore(folder, server, proxy, proxy.databaseUrl);
  }

  private constructor(folder: string, server: EmbeddedPostgres, proxy: TcpProxy, url: string) {
    this.#folder = folder;
    this.#server = server;
    this.proxy = proxy;
    this.url = url;
  }

  /** Past the proxy. */
  get directUrl(): string {
    return this.#server.url;
  }

  async restart(): Promise<void> {
    await this.#server.stop();
    this.#server = await startEmbeddedPostgres({ dir: this.#folder, settings: SETTINGS });
  }

  /** Its processes end at once, in the middle of whatever they do. */
  async crash(): Promise<void> {
    const [pid] = (await readFile(path.join(this.#server.dataDir, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGQUIT');
    await this.restart();
  }

  async stop(): Promise<void> {
    await this.proxy.refuse();
    await this.#server.stop();
    // Not below `folder` when that is out of the database user's reach.
    await rm(path.dirname(this.#server.dataDir), { recursive: true, force: true });
  }
}
