import type { Scope } from '../../world/proxy/faults.js';
import { type Freeze, TcpProxy } from '../../world/proxy/tcp-proxy.js';

/** A proxy between each process and each thing that it calls, so that one process alone can lose one store. */
const TARGETS = ['Postgres', 'Redis', 'the facilitator', 'the EVM chain', 'the Solana chain'] as const;
export type Target = (typeof TARGETS)[number];

interface Link {
  service: string;
  target: Target;
  proxy: TcpProxy;
}

export class Links {
  readonly #links: readonly Link[];

  static async open(services: readonly string[], urls: Record<Target, string>): Promise<Links> {
    const pairs = services.flatMap((service) => TARGETS.map((target) => ({ service, target })));
    const links = pairs.map(async (pair) => ({
      ...pair,
      proxy: await TcpProxy.start(urls[pair.target]),
    }));
    return new Links(await Promise.all(links));
  }

  private constructor(links: readonly Link[]) {
    this.#links = links;
  }

  /** The URL at which a process reaches the target. */
  url(service: string, target: Target): string {
    const [proxy] = this.#proxies(target, [service]);
    if (proxy === undefined) throw new Error(`nothing leads from ${service} to ${target}`);
    return proxy.url;
  }

  cut(target: Target): void {
    for (const proxy of this.#proxies(target)) proxy.cut();
  }

  /** Every connection is cut, and new ones lead to another server. */
  leadTo(target: Target, url: string): void {
    for (const proxy of this.#proxies(target)) proxy.leadTo(url);
  }

  async refuse(target: Target): Promise<void> {
    await Promise.all(this.#proxies(target).map((proxy) => proxy.refuse()));
  }

  async accept(target: Target): Promise<void> {
    await Promise.all(this.#proxies(target).map((proxy) => proxy.accept()));
  }

  freeze(target: Target, scope: Scope, services?: readonly string[]): Freeze {
    const freezes = this.#proxies(target, services).map((proxy) => proxy.freeze(scope));
    return {
      thaw() {
        for (const freeze of freezes) freeze.thaw();
      },
    };
  }

  async repair(): Promise<void> {
    for (const { proxy } of this.#links) {
      proxy.thaw();
      await proxy.accept();
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#links.map(({ proxy }) => proxy.refuse()));
  }

  /** The proxies of all processes, or of the named ones. */
  #proxies(target: Target, services?: readonly string[]): TcpProxy[] {
    const own = this.#links.filter(
      (link) => link.target === target && services?.includes(link.service) !== false,
    );
    return own.map(({ proxy }) => proxy);
  }
}
