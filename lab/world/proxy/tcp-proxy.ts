import { once } from 'node:events';
import net from 'node:net';
import { postgresAddress } from '../processes/pause-points.js';
import { Connection, type Dials } from './connection.js';
import { Cut, type CutPoint, Hold, type Scope } from './faults.js';
import { acceptTls } from './tls.js';

export interface Freeze {
  thaw(): void;
}

interface Swallow {
  /** The dropped text of each connection and way that lost some. */
  dropped(): string[];
}

interface ProxyOptions {
  /** Accepts TLS with a self-signed certificate, for a store without TLS. */
  tls?: boolean;
}

/** A proxy between clients and a server. Faults end with `thaw` and `accept`; the server keeps the bytes it has received. */
export class TcpProxy {
  #target: URL;
  readonly #tls: boolean;
  readonly #server: net.Server;
  readonly #connections = new Set<Connection>();
  readonly #holds = new Set<Hold>();
  readonly #dials: Dials = { delayMs: 0, cutNext: undefined };
  #port = 0;

  /** `target` is the server's URL: of Postgres (a socket in a folder too), Redis or HTTP. */
  static async start(target: string, options: ProxyOptions = {}): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, options);
    await proxy.accept();
    return proxy;
  }

  private constructor(target: string, { tls = false }: ProxyOptions) {
    this.#target = new URL(target);
    this.#tls = tls;
    this.#server = net.createServer({ allowHalfOpen: true }, (near) => {
      if (tls) acceptTls(near, this.#isPostgres, (secure) => this.#connect(secure));
      else this.#connect(near);
    });
  }

  get port(): number {
    return this.#port;
  }

  /** The target's URL with the proxy's address, without a slash at its end. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    if (this.#isPostgres) url.search = `sslmode=${this.#tls ? 'require' : 'disable'}`;
    else if (this.#tls) url.protocol = 'rediss:';
    return url.href.replace(/\/$/, '');
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Ends `refuse` and `swallow`. Swallowed bytes leave the two sides out of step, so their connections are cut. */
  async accept(): Promise<void> {
    const swallows = [...this.#holds].filter((hold) => hold.drops);
    for (const hold of swallows) this.#remove(hold);
    if (swallows.length > 0) this.cut();
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Ends every connection, and refuses new ones until `accept`. */
  async refuse(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  async close(): Promise<void> {
    await this.refuse();
  }

  /** Ends every connection and drops the bytes that a freeze holds; new connections are accepted. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Ends every connection; new ones lead to this server, as an address does after a failover. */
  leadTo(target: string): void {
    this.leadNewTo(target);
    this.cut();
  }

  /** New connections lead to this server, and open ones stay, as when a former primary lives on. */
  leadNewTo(target: string): void {
    this.#target = new URL(target);
  }

  /** Cuts the connection of the next request that matches at this point. */
  cutNext(request: RegExp, point: CutPoint): Cut {
    this.#dials.cutNext = new Cut(request, point);
    return this.#dials.cutNext;
  }

  /**
   * Keeps traffic, and delivers it in order after the thaw, connection ends included, whether or not the sender still
   * exists. A frozen network does the same: a statement that its client has given up on still arrives.
   */
  freeze(scope: Scope = {}): Freeze {
    const hold = this.#add(new Hold(scope, { drops: false }));
    return { thaw: () => this.#remove(hold) };
  }

  /** Ends every freeze. */
  thaw(): void {
    for (const hold of this.#holds) if (!hold.drops) this.#remove(hold);
  }

  /** Keeps connections open and drops their traffic, until `accept`. */
  swallow(scope: Scope = {}): Swallow {
    return this.#add(new Hold(scope, { drops: true }));
  }

  /** Delivers everything this much later; 0 ends it. */
  delay(ms: number): void {
    this.#dials.delayMs = ms;
  }

  get #isPostgres(): boolean {
    return this.#target.protocol === 'postgres:';
  }

  #add(hold: Hold): Hold {
    this.#holds.add(hold);
    for (const connection of this.#connections) connection.add(hold);
    return hold;
  }

  #remove(hold: Hold): void {
    this.#holds.delete(hold);
    for (const connection of this.#connections) connection.remove(hold);
  }

  #connect(near: net.Socket): void {
    const { hostname: host, port } = this.#target;
    const address = this.#isPostgres ? postgresAddress(this.#target) : { host, port: Number(port) };
    const far = net.connect({ ...address, allowHalfOpen: true });
    const connection = new Connection(near, far, this.#dials, () => this.#connections.delete(connection));
    this.#connections.add(connection);
    for (const hold of this.#holds) connection.add(hold);
  }
}
