import { once } from 'node:events';
import net from 'node:net';
import { postgresAddress } from '../processes/pause-points.js';

/**
 * A proxy between one client and a server that can freeze: what either side sends is kept, and delivered in order after
 * the thaw, connection ends included, whether or not the sender still exists. A frozen network does the same: a
 * statement that its client has given up on still arrives.
 */
export interface FreezeOptions {
  /** `up` is from the client to the server. */
  ways: readonly Way[];
  /** Called for each open connection, and for each new one during the freeze: true freezes it. */
  holds(): boolean;
}

export type Way = 'up' | 'down';

export interface Freeze {
  thaw(): void;
}

const BOTH: FreezeOptions = { ways: ['up', 'down'], holds: () => true };

export class FreezingProxy {
  readonly #target: net.NetConnectOpts;
  readonly #connections = new Set<Connection>();
  readonly #freezes = new Map<Freeze, FreezeOptions>();
  readonly #server: net.Server;
  #port = 0;

  static async start(target: net.NetConnectOpts): Promise<FreezingProxy> {
    const proxy = new FreezingProxy(target);
    await proxy.accept();
    return proxy;
  }

  /** Starts a proxy before the Postgres at this address. */
  static async before(databaseUrl: string): Promise<FreezingProxy & { databaseUrl: string }> {
    const url = new URL(databaseUrl);
    const proxy = await FreezingProxy.start(postgresAddress(url));
    const through = `postgres://${url.username}@127.0.0.1:${proxy.port}${url.pathname}?sslmode=disable`;
    return Object.assign(proxy, { databaseUrl: through });
  }

  private constructor(target: net.NetConnectOpts) {
    this.#target = target;
    this.#server = net.createServer({ allowHalfOpen: true }, (near) => this.#connect(near));
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#connections.size;
  }

  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : 0;
  }

  freeze(options: FreezeOptions = BOTH): Freeze {
    const freeze: Freeze = {
      thaw: () => {
        this.#freezes.delete(freeze);
        for (const connection of this.#connections) connection.thaw(freeze);
      },
    };
    this.#freezes.set(freeze, options);
    for (const connection of this.#connections) connection.freeze(freeze, options);
    return freeze;
  }

  thawAll(): void {
    for (const freeze of this.#freezes.keys()) freeze.thaw();
  }

  /** Ends every connection and drops what it held; new ones are accepted. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Ends every connection, and refuses new ones until `accept`. */
  async refuse(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #connect(near: net.Socket): void {
    const connection = new Connection(near, net.connect({ ...this.#target, allowHalfOpen: true }), () =>
      this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    for (const [freeze, options] of this.#freezes) connection.freeze(freeze, options);
  }
}

class Connection {
  readonly #sockets: readonly net.Socket[];
  readonly #lanes: Record<Way, Lane>;

  constructor(near: net.Socket, far: net.Socket, closed: () => void) {
    this.#sockets = [near, far];
    this.#lanes = { up: new Lane(near, far), down: new Lane(far, near) };
    let open = this.#sockets.length;
    for (const socket of this.#sockets) {
      socket.setNoDelay(true);
      socket.once('close', () => {
        open -= 1;
        if (open === 0) closed();
      });
    }
  }

  freeze(freeze: Freeze, { ways, holds }: FreezeOptions): void {
    if (!holds()) return;
    for (const way of ways) this.#lanes[way].freeze(freeze);
  }

  thaw(freeze: Freeze): void {
    for (const lane of Object.values(this.#lanes)) lane.thaw(freeze);
  }

  cut(): void {
    for (const lane of Object.values(this.#lanes)) lane.forget();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** One direction of a connection. */
class Lane {
  readonly #freezes = new Set<Freeze>();
  readonly #to: net.Socket;
  #held: (() => void)[] = [];

  constructor(from: net.Socket, to: net.Socket) {
    this.#to = to;
    from.on('data', (bytes: Buffer) => this.#carry(() => void to.write(bytes)));
    from.on('end', () => this.#carry(() => void to.end()));
    from.on('error', () => undefined); // `close` follows.
    from.once('close', () => this.#carry(() => to.destroySoon()));
  }

  freeze(freeze: Freeze): void {
    this.#freezes.add(freeze);
  }

  thaw(freeze: Freeze): void {
    this.#freezes.delete(freeze);
    if (this.#freezes.size > 0) return;
    for (const deliver of this.#held.splice(0)) this.#deliver(deliver);
  }

  forget(): void {
    this.#freezes.clear();
    this.#held = [];
  }

  #carry(deliver: () => void): void {
    if (this.#freezes.size > 0) this.#held.push(deliver);
    else this.#deliver(deliver);
  }

  #deliver(deliver: () => void): void {
    if (!this.#to.destroyed) deliver();
  }
}
